import { useSignal } from "@preact/signals";
import { attempt, say } from "../../state/toasts.ts";
import { Copy, Fault, Time } from "../../ui/basics.tsx";
import { ask } from "../../ui/dialog.tsx";
import { createToken, type Issued, revokeToken, type Token } from "./queries.ts";
import { tokens } from "./state.ts";

const rightSets = { read: ["read"], "read, write": ["read", "write"], admin: ["admin"] } as const;

export function TokensPanel() {
  const issued = useSignal<Issued | undefined>(undefined);
  const create = async (form: HTMLFormElement) => {
    const data = new FormData(form);
    const [name, rights, expires] = [data.get("name"), data.get("rights"), data.get("expires")].map(String);
    if (!name?.trim()) return;
    const set = rightSets[rights as keyof typeof rightSets] ?? rightSets.read;
    issued.value = await attempt(() => createToken(name.trim(), [...set], expires ?? ""));
    if (issued.value) form.reset();
    await tokens.load();
  };
  return (
    <>
      <form
        class="row token-form"
        onSubmit={(event) => {
          event.preventDefault();
          void create(event.currentTarget);
        }}
      >
        <label class="field">
          <span>Name</span>
          <input class="input" name="name" required maxLength={100} placeholder="laptop" />
        </label>
        <label class="field">
          <span>Rights</span>
          <select class="input" name="rights">
            {Object.keys(rightSets).map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <label class="field">
          <span>Expires</span>
          <select class="input" name="expires">
            <option value="">after 90 days</option>
            <option value="30d">after 30 days</option>
            <option value="never">never</option>
          </select>
        </label>
        <button type="submit" class="button primary">
          Make a token
        </button>
      </form>
      {issued.value && (
        <div class="notice warn" role="status">
          <p>The secret of “{issued.value.token.name}” is shown only now. Copy it before you leave this page.</p>
          <Copy text={issued.value.secret} />
        </div>
      )}
      <Fault text={tokens.error.value} />
      {tokens.data.value?.length === 0 && (
        <p class="soft">No tokens in the database. This machine uses the token file.</p>
      )}
      {tokens.data.value && tokens.data.value.length > 0 && (
        <div class="scroll">
          <table>
            <thead>
              <tr>
                <th scope="col">Name</th>
                <th scope="col">Rights</th>
                <th scope="col">State</th>
                <th scope="col">Last used</th>
                <th scope="col">Expires</th>
                <th scope="col">
                  <span class="visually-hidden">Action</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {tokens.data.value.map((token) => (
                <TokenRow key={token.id} token={token} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  );
}

function TokenRow({ token }: { token: Token }) {
  const revoke = async () => {
    const answer = await ask({
      title: `Revoke “${token.name}”?`,
      text: "Programs that use it are refused at once. This cannot be undone; make another token instead.",
      confirm: "Revoke",
      isDangerous: true,
    });
    if (answer === undefined) return;
    if (await attempt(() => revokeToken(token.id))) say(`Revoked “${token.name}”.`);
    await tokens.load();
  };
  return (
    <tr>
      <td>
        {token.name}
        {token.agent !== null && <p class="soft small">agent {token.agent} only</p>}
        {token.scopes !== null && <p class="soft small">scopes: {token.scopes.join(", ") || "none"}</p>}
      </td>
      <td>{token.rights.join(", ")}</td>
      <td>
        <span class={`tag ${token.state === "active" ? "good" : ""}`}>{token.state}</span>
      </td>
      <td>{token.lastUsedAt === null ? "never" : <Time value={token.lastUsedAt} />}</td>
      <td>{token.expiresAt === null ? "never" : <Time value={token.expiresAt} />}</td>
      <td>
        {token.state === "active" && (
          <button type="button" class="button danger" onClick={() => void revoke()}>
            Revoke
          </button>
        )}
      </td>
    </tr>
  );
}
