import { isUnlimited } from "../../api/login.ts";
import { claimId, people, printPerson } from "../../state/owners.ts";
import { sessionHref } from "../../state/router.ts";
import { Time } from "../../ui/basics.tsx";

const shownMax = 3;

/** People who wrote and are not known: one of them may be the owner. */
export function UnknownPeople() {
  const unknown = isUnlimited() ? (people.data.value?.unknown ?? []) : [];
  if (unknown.length === 0) return null;
  return (
    <section class="notice warn unknown" aria-label="People who are not known">
      <p>
        People wrote who are not named as you. Each has a session of their own and sees nothing of what you told the
        agent.
      </p>
      <ul class="plain">
        {unknown.slice(0, shownMax).map((person) => (
          <li key={person.key} class="row">
            <span class="grow">
              <a href={sessionHref(person.key)}>{person.name ?? person.id}</a>
              {person.name !== undefined && <span class="soft"> {printPerson(person)}</span>}
              {person.name === undefined && person.channel !== undefined && (
                <span class="soft"> on {person.channel}</span>
              )}
              <span class="soft">
                , since <Time value={person.since} />
              </span>
            </span>
            <button
              type="button"
              class="button"
              aria-label={`This is me: ${printPerson(person)}`}
              onClick={() => void claimId(person)}
            >
              This is me
            </button>
          </li>
        ))}
      </ul>
      {unknown.length > shownMax && (
        <p>
          And {unknown.length - shownMax} more: <a href="/system?tab=owners">Owners</a>
        </p>
      )}
    </section>
  );
}
