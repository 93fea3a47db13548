import { once } from "node:events";
import { request } from "node:http";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** The answers that hostile requests got, by status; `closed` for connections that ended without one. */
export type AttackCounts = Record<string, number>;

/** The sessions that the attackers write to. */
export const attackedSessions: readonly string[] = ["attack-0", "attack-1", "attack-2", "attack-3", "attack-4"];

interface Attack {
  url: string;
  token: string;
  signal: AbortSignal;
}

/** One hostile request; returns its status. */
type HostileRequest = (attack: Attack, turn: number) => Promise<string>;

const patterns = ["(?i)(a|b|c|d|e)*(.{0,500}x){2}$", "(.{0,800}y){2}$", "(a?){500}a{500}", "(?i)([a-z]+ ?)*!$"];

const grep: HostileRequest = ({ url, token, signal }, turn) => {
  const query = new URLSearchParams({ pattern: patterns[turn % patterns.length] ?? "", mode: "regex", limit: "200" });
  return ask(`${url}/api/grep?${query}`, { headers: { authorization: `Bearer ${token}` }, signal });
};

/** A body of 2 to 20 MB with many small parts. */
const largeBody: HostileRequest = ({ url, token, signal }, turn) => {
  const body = makeLargeBody(2 + ((turn * 6) % 19));
  return post(
    `${url}/api/sessions/agent:main:${attackedSessions[turn % attackedSessions.length]}/messages`,
    token,
    body,
    signal,
  );
};

const largeBodies = new Map<number, Uint8Array<ArrayBuffer>>();

/** Made once, as bytes: the attackers share the machine with the gateway, and making one takes longer than sending it. */
function makeLargeBody(megabytes: number): Uint8Array<ArrayBuffer> {
  const known = largeBodies.get(megabytes);
  if (known !== undefined) return known;
  const part = `{"type":"text","text":"${"word ".repeat(8)}"}`;
  const parts = Array.from({ length: Math.floor((megabytes * 1e6) / (part.length + 1)) }, () => part).join(",");
  const body = Buffer.from(`{"messages":[{"role":"user","content":[${parts}]}]}`);
  largeBodies.set(megabytes, body);
  return body;
}

const deepBody = Buffer.from(
  `{"messages":[{"role":"user","content":${"[".repeat(1_000_000)}${"]".repeat(1_000_000)}}]}`,
);

const deepJson: HostileRequest = ({ url, token, signal }) =>
  post(`${url}/api/sessions/agent:main:${attackedSessions[0]}/messages`, token, deepBody, signal);

const wrongToken: HostileRequest = ({ url, signal }, turn) =>
  ask(`${url}/api/sessions`, { headers: { authorization: `Bearer wrong-${turn}` }, signal });

/** Announces a large body and sends a byte now and then. */
const slowClient: HostileRequest = async ({ url, token, signal }) => {
  const { port, hostname, host } = new URL(url);
  const socket = connect({ port: Number(port), host: hostname });
  const closed = once(socket, "close");
  let said = "";
  socket.on("data", (chunk) => {
    said += String(chunk);
  });
  socket.on("error", () => socket.destroy());
  socket.write(
    `POST /api/search HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n`,
  );
  const writing = setInterval(() => socket.write(" "), 100);
  const end = (): void => void socket.destroy();
  signal.addEventListener("abort", end, { once: true });
  const patience = setTimeout(end, 3_000);
  await closed;
  clearInterval(writing);
  clearTimeout(patience);
  signal.removeEventListener("abort", end);
  return /^HTTP\/1\.1 (\d+)/.exec(said)?.[1] ?? "closed";
};

const hostileRequests = { patterns: grep, bodies: largeBody, tokens: wrongToken, slow: slowClient, depth: deepJson };
export type AttackKind = keyof typeof hostileRequests;
/** The attackers take these kinds in turn; half of them send patterns. */
export const attackKinds: readonly AttackKind[] = [
  "patterns",
  "bodies",
  "patterns",
  "tokens",
  "patterns",
  "slow",
  "depth",
];

/** Sends hostile requests, `count` at once, until the signal is aborted. Each attacker has a token of its own. */
export async function attack(
  url: string,
  tokens: readonly string[],
  signal: AbortSignal,
  kinds: readonly AttackKind[] = attackKinds,
): Promise<AttackCounts> {
  const counts: AttackCounts = {};
  await Promise.all(
    tokens.map(async (token, index) => {
      const kind = hostileRequests[kinds[index % kinds.length] ?? "patterns"];
      for (let turn = index; !signal.aborted; turn += 1) {
        const status = await kind({ url, token, signal }, turn);
        if (signal.aborted) return;
        counts[status] = (counts[status] ?? 0) + 1;
        // A refused client that is not patient comes back soon.
        if (status === "429" || status === "closed") await sleep(50);
      }
    }),
  );
  return counts;
}

/** Sends the bytes without a copy: `fetch` would copy them twice, and the attackers share the machine with the gateway. */
function post(url: string, token: string, body: Uint8Array<ArrayBuffer>, signal: AbortSignal): Promise<string> {
  const headers = {
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
    "content-length": body.byteLength,
  };
  return new Promise((resolve) => {
    const sent = request(url, { method: "POST", headers, agent: false, signal });
    sent.on("response", (response) => {
      response.resume();
      resolve(String(response.statusCode));
      // A client that has its answer does not send the rest.
      response.on("end", () => sent.destroy());
    });
    // The gateway closed the connection, or the attack is over.
    sent.on("error", () => resolve("closed"));
    sent.end(body);
  });
}

async function ask(url: string, init: RequestInit): Promise<string> {
  try {
    const response = await fetch(url, init);
    await response.arrayBuffer();
    return String(response.status);
  } catch {
    // The gateway closed the connection, or the attack is over.
    return "closed";
  }
}
