import type { Message } from "../index.ts";

const words =
  "the a to of and in is it for on with that this as be are was have from or an by not but what all were when we there can more if out up use your which do their time will way about many then them would like so these long make thing see him two has look more day could go come did number sound no most people over know water than call first who may down side been now find any new work part take get place made live where after back little only round man year came show every good me give our under name very through just form sentence great think say help low line differ turn cause much mean before move right boy old too same tell does set three want air well also play small end put home read hand port large spell add even land here must big high such follow act why ask men change went light kind off need house picture try us again animal point mother world near build self earth father deploy server config database schema migration index token context window summary cache worker thread queue retry timeout".split(
    " ",
  );
const tools = ["read_file", "run_command", "search_code", "fetch_page"];
const wordsPerMessage = 72;

/** A deterministic pseudo-random generator. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** A synthetic agent conversation: about 100 tokens per message, a quarter of them tool calls with their results. */
export function* conversation(count: number, from = 0): Generator<Message> {
  for (let index = from; index < from + count; index += 1) yield messageAt(index);
}

export function messageAt(index: number): Message {
  const random = seededRandom(index + 1);
  const text = createText(random, index);
  const base = { id: `m${index.toString().padStart(9, "0")}`, time: 1_700_000_000_000 + index * 20_000 };
  // Of every eight messages one is a call and the next its result.
  const place = index % 8;
  const callId = `call_${Math.floor(index / 8)}`;
  const name = tools[Math.floor(random() * tools.length)] ?? "read_file";
  if (place === 5) {
    const input = { path: `src/module-${index % 500}/file-${index % 97}.ts`, note: text };
    return { ...base, role: "assistant", content: [{ type: "tool_call", callId, name, input }] };
  }
  if (place === 6) return { ...base, role: "tool", content: [{ type: "tool_result", callId, name, output: text }] };
  return { ...base, role: place % 2 === 0 ? "user" : "assistant", content: text };
}

function createText(random: () => number, index: number): string {
  const chosen: string[] = [];
  for (let place = 0; place < wordsPerMessage; place += 1) {
    const word = wordBy(random);
    chosen.push(place % 24 === 23 ? `${word}-${Math.floor(random() * 5000)}.` : word);
  }
  return `Step ${index}: ${chosen.join(" ")}`;
}

/** Queries for such a conversation: words that occur in every sixth message, and sometimes a rare one. */
export function createQueries(count: number): string[] {
  return Array.from({ length: count }, (_, index) => {
    const random = seededRandom(7_000_000 + index);
    const chosen = Array.from({ length: 3 + Math.floor(random() * 4) }, () => wordBy(random));
    if (index % 2 === 0) chosen.push(`${wordBy(random)}-${Math.floor(random() * 5000)}`);
    return chosen.join(" ");
  });
}

/** Squaring gives a long-tailed distribution of words. */
function wordBy(random: () => number): string {
  return words[Math.floor(random() ** 2 * words.length)] ?? "the";
}
