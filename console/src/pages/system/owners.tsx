import { claimId, type Owner, people, printPerson, removeOwner } from "../../state/owners.ts";
import { Fault, Time } from "../../ui/basics.tsx";
import { UnknownPersonRow } from "../../ui/unknown-person.tsx";

/** The owner's ids, and people who may be the owner. */
export function OwnersPanel() {
  const { owners = [], unknown = [] } = people.data.value ?? {};
  return (
    <>
      <p class="soft">
        Direct chats of these ids continue your own conversation. Everybody else has a session of their own, and does
        not see what you told the agent.
      </p>
      <AddForm />
      <Fault text={people.error.value} onRetry={() => void people.load()} />
      {people.data.value && owners.length === 0 && <p class="soft">No id of yours is named yet.</p>}
      {owners.length > 0 && (
        <div class="scroll">
          <table aria-label="Owners">
            <thead>
              <tr>
                <th scope="col">Channel</th>
                <th scope="col">Id</th>
                <th scope="col">Added by</th>
                <th scope="col">Since</th>
                <th scope="col">
                  <span class="visually-hidden">Action</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {owners.map((owner) => (
                <OwnerRow key={JSON.stringify([owner.channel, owner.id, owner.addedBy])} owner={owner} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {unknown.length > 0 && <h2>Not known</h2>}
      <ul class="plain unknown">
        {unknown.map((person) => (
          <UnknownPersonRow key={person.key} person={person} />
        ))}
      </ul>
    </>
  );
}

function OwnerRow({ owner }: { owner: Owner }) {
  const { channel, id, addedBy, addedAt } = owner;
  return (
    <tr>
      <td>{channel}</td>
      <td class="mono">{id}</td>
      <td>{addedBy ?? "the setting turn.owners"}</td>
      <td>{addedAt !== undefined && <Time value={addedAt} />}</td>
      <td>
        {addedBy !== undefined && (
          <button
            type="button"
            class="button danger"
            aria-label={`Remove ${printPerson(owner)}`}
            onClick={() => void removeOwner(owner)}
          >
            Remove
          </button>
        )}
      </td>
    </tr>
  );
}

function AddForm() {
  const add = async (form: HTMLFormElement) => {
    const data = new FormData(form);
    const [channel = "", id = ""] = [data.get("channel"), data.get("id")].map((value) => String(value ?? "").trim());
    if (channel !== "" && id !== "" && (await claimId({ channel, id }))) form.reset();
  };
  return (
    <form
      class="row token-form"
      onSubmit={(event) => {
        event.preventDefault();
        void add(event.currentTarget);
      }}
    >
      <label class="field">
        <span>Channel</span>
        <input class="input" name="channel" required maxLength={512} placeholder="telegram" />
      </label>
      <label class="field">
        <span>Your id in it</span>
        <input class="input" name="id" required maxLength={512} placeholder="5054873275" />
      </label>
      <button type="submit" class="button primary">
        This is me
      </button>
    </form>
  );
}
