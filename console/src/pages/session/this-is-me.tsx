import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { call } from "../../api/client.ts";
import { isUnlimited } from "../../api/login.ts";
import { claimId, people } from "../../state/owners.ts";
import { createResource } from "../../state/resource.ts";

/** Makes the person of a session the owner; shown for a person who is not known as the owner. */
export function ThisIsMe({ sessionKey, audience }: { sessionKey: string; audience: string | undefined }) {
  const asked = useSignal(
    createResource((signal) => call("GET /api/owners", { query: { session: sessionKey }, signal })),
  ).value;
  const isPersons = audience?.startsWith("user:") === true && isUnlimited();
  useEffect(() => {
    if (isPersons) void asked.load();
  }, [isPersons, people.data.value]);
  const person = asked.data.value?.person;
  if (!isPersons || !person || person.isOwner) return null;
  return (
    <button type="button" class="button" onClick={() => void claimId(person)}>
      This is me
    </button>
  );
}
