/**
 * `npm run compare:openclaw`: the real OpenClaw without a plugin, with memory-lancedb-pro and with Varve, on the same
 * model server: what each adds before a model call, what it recalls, and what it stores.
 *
 * memory-lancedb-pro is taken from the folder in `--lancedb-pro`, a clone of it with its dependencies and its build.
 * lossless-claw is not compared: it stores nothing in OpenClaw 2026.9.6, which needs `commitTurn` of a context engine.
 */
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { openVarve } from "../src/index.ts";
import { type ChatBody, startChatServer, tokensOf } from "../test/support/chat-server.ts";
import { type OpenClaw, startOpenClaw } from "../test/support/openclaw.ts";
import { answerFromPrompt, askFact, stateFact } from "../test/support/reading-model.ts";
import { provisionOpenClaw } from "./provision-openclaw.ts";

const { values } = parseArgs({ options: { "lancedb-pro": { type: "string" }, only: { type: "string" } } });

const names = [
  ...["harbour", "mill", "orchard", "quarry", "bakery", "lighthouse", "vineyard", "library", "smithy", "tannery"],
  ...["ferry", "brewery", "chapel", "archive", "greenhouse", "stable", "foundry", "market", "observatory", "cellar"],
];
const facts = names.map((name, index) => ({ name, value: `K-${100 + index * 7}` }));
/** Small talk in between; none of it is worth keeping. */
const smallTalk = [
  "Good morning, how are you today?",
  "Thanks, that helps a lot.",
  "Can you tell me a joke about penguins?",
  "What time is it in Tokyo right now?",
  "Please remember to be brief in this chat, ok?",
  "Which of these two options do you prefer, tea or coffee?",
  "Hm, let me think about that for a moment.",
  "Could you explain how rainbows form, in one sentence?",
  "I will be back after lunch.",
  "What is the capital of France?",
];

interface Variant {
  name: string;
  prepare(setup: { home: string; env: Record<string, string | undefined> }): Promise<void>;
  /** The texts of the stored memories. */
  readMemories(openclaw: OpenClaw): Promise<string[]>;
}

interface Measured {
  name: string;
  /** The median time from a question to the first model call. */
  milliseconds: number;
  /** The mean size of the first prompt for a question. */
  promptTokens: number;
  recalled: number;
  /** How many of them without a call of a tool. */
  unasked: number;
  stored: number;
  junk: number;
}

async function measureVariant(program: string, variant: Variant): Promise<Measured> {
  let arrived: { time: number; body: ChatBody } | undefined;
  const model = await startChatServer((body) => {
    arrived ??= { time: performance.now(), body };
    return answerFromPrompt(body);
  });
  const openclaw = await startOpenClaw(program, model.url, { prepare: variant.prepare });
  const ask = async (key: string, content: string) => {
    arrived = undefined;
    const requestsBefore = model.requests.length;
    const started = performance.now();
    const response = await fetch(openclaw.endpoint.url, {
      method: "POST",
      headers: {
        authorization: `Bearer ${openclaw.endpoint.token}`,
        "content-type": "application/json",
        "x-openclaw-session-key": key,
      },
      body: JSON.stringify({ model: "openclaw/main", messages: [{ role: "user", content }] }),
    });
    const answer = (await response.json()) as { choices?: { message: { content: string } }[] };
    const text = answer.choices?.[0]?.message.content;
    const first = arrived as { time: number; body: ChatBody } | undefined;
    if (text === undefined || first === undefined)
      throw new Error(`No answer to ${content}: ${JSON.stringify(answer)}`);
    const calls = model.requests.length - requestsBefore;
    return { text, milliseconds: first.time - started, tokens: tokensOf(first.body), calls };
  };
  try {
    for (const [index, { name, value }] of facts.entries()) {
      await ask("agent:main:told", stateFact(name, value));
      if (index % 2 === 0) await ask("agent:main:told", smallTalk[index / 2] ?? "");
    }
    // What is stored in the background is stored by then.
    await sleep(10_000);
    const answers = [];
    for (const { name } of facts) answers.push(await ask(`agent:main:asked-${name}`, askFact(name)));
    const isRight = answers.map(({ text }, index) => text.includes(facts[index]?.value ?? ""));
    await sleep(5_000);
    await openclaw.stop();
    const stored = await variant.readMemories(openclaw);
    const times = answers.map(({ milliseconds }) => milliseconds).sort((a, b) => a - b);
    return {
      name: variant.name,
      milliseconds: times[Math.floor(times.length / 2)] ?? 0,
      promptTokens: answers.reduce((sum, { tokens }) => sum + tokens, 0) / answers.length,
      recalled: isRight.filter(Boolean).length,
      unasked: answers.filter(({ calls }, index) => isRight[index] && calls === 1).length,
      stored: stored.length,
      junk: stored.filter((text) => !isFact(text)).length,
    };
  } finally {
    await openclaw.stop();
    openclaw.remove();
    await model.close();
  }
}

/** Whether a stored text states one of the facts, and is not a question about it. */
function isFact(text: string): boolean {
  return facts.some(({ name, value }) => text.includes(name) && text.includes(value)) && !text.includes("?");
}

function editSettings(home: string, edit: (settings: Record<string, unknown>) => void): void {
  const file = join(home, "openclaw.json");
  const settings = JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>;
  settings.gateway = { mode: "local", http: { endpoints: { chatCompletions: { enabled: true } } } };
  edit(settings);
  writeFileSync(file, JSON.stringify(settings, null, 2));
}

const noPlugin: Variant = {
  name: "no plugin",
  prepare: async ({ home }) => editSettings(home, () => undefined),
  readMemories: async () => [],
};

const varve: Variant = {
  name: "Varve",
  async prepare({ home, env }) {
    editSettings(home, () => undefined);
    const program = fileURLToPath(new URL("../bin/varve.js", import.meta.url));
    execFileSync(process.execPath, [program, "setup", "openclaw", "--yes", "--home", join(home, "varve")], {
      env,
      stdio: "ignore",
    });
  },
  async readMemories({ home }) {
    const opened = await openVarve({ home: join(home, "varve"), background: false });
    try {
      const { memories } = await opened.memory.list({ agent: "main", limit: 200 });
      return memories.map((memory) => memory.content);
    } finally {
      await opened.close();
    }
  },
};

function createLancedbPro(folder: string, embeddingUrl: string): Variant {
  return {
    name: "memory-lancedb-pro",
    prepare: async ({ home }) =>
      editSettings(home, (settings) => {
        const embedding = { provider: "openai-compatible", apiKey: "local", model: "words", baseURL: embeddingUrl };
        settings.plugins = {
          load: { paths: [folder] },
          slots: { memory: "memory-lancedb-pro" },
          entries: {
            "memory-lancedb-pro": {
              enabled: true,
              hooks: { allowConversationAccess: true },
              // Without a language model for extraction it captures by rules.
              config: {
                embedding: { ...embedding, dimensions: wordDimensions },
                dbPath: join(home, "lancedb"),
                autoCapture: true,
                autoRecall: true,
                smartExtraction: false,
              },
            },
            "memory-core": { enabled: false },
          },
        };
      }),
    async readMemories({ home }) {
      const load = createRequire(join(folder, "package.json"));
      const lance = load("@lancedb/lancedb") as {
        connect(
          path: string,
        ): Promise<{ openTable(name: string): Promise<{ query(): { toArray(): Promise<{ text: string }[]> } }> }>;
      };
      const path = join(home, "lancedb");
      if (!existsSync(join(path, "memories.lance"))) return [];
      const table = await (await lance.connect(path)).openTable("memories");
      return (await table.query().toArray()).map(({ text }) => text).filter((text) => text !== "");
    },
  };
}

const wordDimensions = 256;

/** An embedding server: texts with the same words are near. */
async function startEmbeddingServer(): Promise<{ url: string; close(): void }> {
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (chunk: Buffer) => {
      text += chunk.toString();
    });
    request.on("end", () => {
      const { input } = JSON.parse(text) as { input: string | string[] };
      const data = [input].flat().map((one, index) => ({ object: "embedding", index, embedding: embedWords(one) }));
      response.setHeader("content-type", "application/json");
      response.end(
        JSON.stringify({ object: "list", data, model: "words", usage: { prompt_tokens: 1, total_tokens: 1 } }),
      );
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, close: () => server.close() };
}

function embedWords(text: string): number[] {
  const vector = new Array<number>(wordDimensions).fill(0);
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) {
    let hash = 7;
    for (const character of word) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) % 1_000_003;
    vector[hash % wordDimensions] = (vector[hash % wordDimensions] ?? 0) + 1;
  }
  const length = Math.hypot(...vector) || 1;
  return vector.map((value) => value / length);
}

const program = provisionOpenClaw();
const embeddings = await startEmbeddingServer();
const folder = values["lancedb-pro"];
const variants = [
  noPlugin,
  ...(folder === undefined ? [] : [createLancedbPro(resolve(folder), embeddings.url)]),
  varve,
].filter(({ name }) => values.only === undefined || name === values.only);
const measured: Measured[] = [];
for (const variant of variants) {
  console.error(`measuring ${variant.name}`);
  measured.push(await measureVariant(program, variant));
}
embeddings.close();
const base = measured.find(({ name }) => name === noPlugin.name);
console.log("                     ms before model  tokens of a prompt  recalled of 20  without a tool  stored  junk");
for (const one of measured) {
  const added = (value: number, of: number | undefined) =>
    of === undefined || one === base
      ? value.toFixed(0)
      : `${value.toFixed(0)} (${value >= of ? "+" : ""}${(value - of).toFixed(0)})`;
  console.log(
    [
      one.name.padEnd(20),
      added(one.milliseconds, base?.milliseconds).padStart(15),
      added(one.promptTokens, base?.promptTokens).padStart(19),
      String(one.recalled).padStart(15),
      String(one.unasked).padStart(15),
      String(one.stored).padStart(7),
      String(one.junk).padStart(5),
    ].join(" "),
  );
}
if (folder === undefined) console.log("memory-lancedb-pro was not compared: name its folder with --lancedb-pro.");
console.log("lossless-claw was not compared: it has no commitTurn, so OpenClaw 2026.9.6 uses its own engine instead.");
