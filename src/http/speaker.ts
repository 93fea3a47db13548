/** Who may speak as the owner over HTTP: a request without a person must not become the owner's by mistake. */
import { isUnlimited, type Principal } from "../authorization/index.ts";
import { VarveError } from "../domain/index.ts";
import type { Address, Inbound } from "../index.ts";

/** Refuses a principal that is limited to an agent, to scopes or to some rights. */
export function requireUnlimited(principal: Principal): void {
  if (isUnlimited(principal)) return;
  throw new VarveError(
    "FORBIDDEN",
    `The access token ${JSON.stringify(principal.name)} is limited, but this route decides who the owner is.`,
    { remedy: "Use this machine's token, or one with the right admin and without an agent and scopes." },
  );
}

/** Refuses an address of the owner unless the principal may do everything. */
export function checkAddressSpeaker(principal: Principal, address: Address): void {
  const { key, peer, group, channel, account, thread, owner } = address;
  checkSpeaker(principal, { owner, named: [key, peer, group, channel, account, thread], field: "peer" });
}

/** Refuses a message of the owner unless the principal may do everything. The run of a job names the job. */
export function checkInboundSpeaker(principal: Principal, inbound: Inbound): void {
  const { session, from, chat, channel, account, job, owner } = inbound;
  checkSpeaker(principal, { owner, named: [session, from, chat, channel, account, job], field: "from" });
}

/** A channel or an account without a person is refused by the engine, which names what is missing. */
function checkSpeaker(
  principal: Principal,
  { owner, named, field }: { owner: boolean | undefined; named: readonly unknown[]; field: "peer" | "from" },
): void {
  const isNobody = named.every((one) => one === undefined);
  if ((!owner && !isNobody) || isUnlimited(principal)) return;
  throw new VarveError(
    "REFUSED",
    owner
      ? `The access token ${JSON.stringify(principal.name)} may not speak as the owner.`
      : "The request names nobody, and only the owner's own programs may leave out who speaks.",
    {
      remedy:
        `Send ${field === "from" ? 'from: { id: "…" }' : "peer"}, the id of the person who speaks. ` +
        "The owner needs this machine's token, or one with the right admin and without an agent and scopes.",
    },
  );
}
