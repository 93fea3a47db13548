/** Measures how the time of a regular expression grows with texts that are made to take long. */

export interface Growth {
  /** The parts of the text. */
  input: string;
  smallMs: number;
  largeMs: number;
}

/** The sizes that are tried until one takes long enough to be measured; a text of a quarter of the size is compared. */
const sizes = [2_000, 8_000, 32_000, 64_000];
/** Faster than this, a text of the large size is no attack. */
const harmlessMs = 15;
/** Four times the text takes four times as long in linear time and sixteen times in quadratic time. */
const ratioMax = 10;
const confirmations = 5;

/** How many of its own pieces are combined with others. */
const ownMax = 8;

const runs = [
  ..." .,:;-_=+*#/\\|`'\"<>()[]{}@&%$!?~^0aAzxe語é\n\t\r",
  "1.",
  "a ",
  "a.",
  " \n",
  "\n\n",
  "a,",
  "1 ",
  "--",
  "a\n",
  "ab-",
  "a1",
  ". ",
  "語 ",
  "\\\\",
  "[[",
  "</",
  "a=",
  "::",
];

/** The texts that make a pattern try many ways: runs of common signs, and of its own characters, words and prefixes. */
export function createHostileInputs(source: string): Map<string, (characters: number) => string> {
  const words = new Set([...runs, ...listOwnPieces(source)]);
  const inputs = new Map<string, (characters: number) => string>();
  for (const word of words) {
    inputs.set(JSON.stringify(word), (characters) => repeat(word, characters));
    inputs.set(`${JSON.stringify(word)} and an end`, (characters) => `${repeat(word, characters)}\u0001`);
  }
  const own = listOwnPieces(source).slice(0, ownMax);
  for (const start of own) {
    for (const filler of [" ", "a", "1", "."]) {
      const name = `${JSON.stringify(start)} then ${JSON.stringify(filler)}`;
      inputs.set(name, (characters) => `${start}${repeat(filler, characters)}\u0001`);
      inputs.set(`${name}, again and again`, (characters) => `${repeat(start + filler, characters)}\u0001`);
    }
  }
  return inputs;
}

const repeated = new Map<string, string>();

function repeat(word: string, characters: number): string {
  const create = (): string => word.repeat(Math.ceil(characters / word.length));
  if (!runs.includes(word)) return create();
  const key = `${characters} ${word}`;
  const text = repeated.get(key) ?? create();
  repeated.set(key, text);
  return text;
}

/** The words, signs and escaped signs that a pattern contains, and the text it begins with. */
function listOwnPieces(source: string): string[] {
  const plain = source
    .replaceAll(/\\[dDwWsSbBpPkux](?:\{[^}]*\})?/g, "\ue000")
    .replaceAll(/\\([nrt])/g, (_, name: string) => ({ n: "\n", r: "\r", t: "\t" })[name] ?? "")
    .replaceAll(/\\(.)/gs, "$1");
  const words = plain.split(/[\ue000^$.*+?()[\]{}|]+/).filter((word) => word !== "" && word.length <= 40);
  const signs = [...plain].filter((sign) => !/[\ue000\p{L}\p{N}]/u.test(sign));
  return [...new Set([...words, ...signs])].slice(0, 24);
}

/** Returns the first input on which the time of a pattern clearly grows faster than its length. */
export function findSuperlinearGrowth(source: string, flags: string): Growth | undefined {
  const pattern = new RegExp(source, flags.replaceAll(/[gy]/g, ""));
  for (const [input, create] of createHostileInputs(source)) {
    for (const size of sizes) {
      if (measure(pattern, create(size)) < harmlessMs) continue;
      const growth = confirmGrowth(pattern, create(size / 4), create(size));
      if (growth) return { input, ...growth };
    }
  }
  return undefined;
}

/** Measures several times, so that a busy machine is not mistaken for a slow pattern. */
function confirmGrowth(pattern: RegExp, small: string, large: string): Omit<Growth, "input"> | undefined {
  let growth = { smallMs: 0, largeMs: 0 };
  for (let round = 0; round < confirmations; round += 1) {
    growth = { smallMs: measureBest(pattern, small), largeMs: measureBest(pattern, large) };
    if (growth.largeMs < harmlessMs || growth.largeMs / Math.max(growth.smallMs, 0.05) <= ratioMax) return undefined;
  }
  return growth;
}

function measureBest(pattern: RegExp, text: string): number {
  return Math.min(measure(pattern, text), measure(pattern, text), measure(pattern, text));
}

/** The processor time of this thread in milliseconds: other programs on the machine do not count. */
function measure(pattern: RegExp, text: string): number {
  const started = process.threadCpuUsage();
  pattern.test(text);
  const { user, system } = process.threadCpuUsage(started);
  return (user + system) / 1_000;
}
