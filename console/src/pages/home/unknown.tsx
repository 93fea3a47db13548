import { isUnlimited } from "../../api/login.ts";
import { people } from "../../state/owners.ts";
import { UnknownPersonRow } from "../../ui/unknown-person.tsx";

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
          <UnknownPersonRow key={person.key} person={person} />
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
