import { claimId, printPerson, type UnknownPerson } from "../state/owners.ts";
import { sessionHref } from "../state/router.ts";
import { Time } from "./basics.tsx";

/** Somebody who wrote and is not known, with the button that names their id as the owner's. */
export function UnknownPersonRow({ person }: { person: UnknownPerson }) {
  const named = printPerson(person);
  return (
    <li class="row">
      <span class="grow">
        <a href={sessionHref(person.key)}>{person.name ?? person.id}</a>{" "}
        <span class="soft">
          {named}, since <Time value={person.since} />
        </span>
      </span>
      <button type="button" class="button" aria-label={`This is me: ${named}`} onClick={() => void claimId(person)}>
        This is me
      </button>
    </li>
  );
}
