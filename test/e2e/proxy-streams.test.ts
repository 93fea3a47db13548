/** Whatever a client's stream is made of: put together, it is the merged reply. */
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/domain/index.ts";
import { anthropicFormat } from "../../src/proxy/anthropic/format.ts";
import { chatFormat } from "../../src/proxy/openai-chat/format.ts";
import { responsesFormat } from "../../src/proxy/openai-responses/format.ts";
import { createSseParser } from "../../src/proxy/sse.ts";
import type { Format } from "../../src/proxy/wire.ts";
import { anthropicDialect } from "../support/model-server/anthropic.ts";
import type { Dialect, Json, Said } from "../support/model-server/dialect.ts";
import { chatDialect } from "../support/model-server/openai-chat.ts";
import { responsesDialect } from "../support/model-server/openai-responses.ts";

const ours = new Set(["lcm_grep"]);
const own = { id: "own", name: "lcm_grep", input: { pattern: "x" } };
const theirs = { id: "theirs", name: "shell", input: { command: "ls" } };
const replies: Record<string, Said[]> = {
  "one that says something": [{ text: "Hello there, all of you." }],
  "one that looks something up first": [{ thinking: "hm", text: "Let me look.", calls: [own] }, { text: "Found it." }],
  "one that looks up twice and says nothing before": [{ calls: [own] }, { calls: [own, own] }, { text: "Found it." }],
  "one with calls of both": [{ text: "I do both.", calls: [own, theirs, own] }],
  "one with calls of the client behind a look": [{ calls: [own] }, { text: "Now this.", calls: [theirs] }],
};
const formats: [string, Format, Dialect, Json][] = [
  ["anthropic", anthropicFormat, anthropicDialect, {}],
  ["chat", chatFormat, chatDialect, { stream_options: { include_usage: true } }],
  ["responses", responsesFormat, responsesDialect, {}],
];

describe.each(formats)("%s", (_, format, dialect, options) => {
  it.each(Object.keys(replies))("%s", (name) => {
    const editor = format.editor(ours);
    const bodies: JsonObject[] = [];
    let stream = "";
    for (const [index, said] of (replies[name] ?? []).entries()) {
      const reader = format.reader();
      editor.begin();
      const events = dialect.events({ model: "m", ...options }, said, { input: 10, output: 5 }, index + 1);
      for (const event of createSseParser().push(new TextEncoder().encode(events.join("")))) {
        reader.take(event);
        stream += editor.take(event);
      }
      expect(reader.isComplete()).toBe(true);
      const body = reader.body();
      if (body) bodies.push(body);
      expect(format.read(body ?? {})?.calls.map(({ name: called }) => called)).toEqual(
        (said.calls ?? []).map((call) => call.name),
      );
    }
    stream += editor.close(bodies);
    const client = format.reader();
    const seen = createSseParser().push(new TextEncoder().encode(stream));
    for (const event of seen) client.take(event);
    expect(client.isComplete()).toBe(true);
    const merged = format.merge(bodies, ours);
    const [streamed, whole] = [format.read(client.body() ?? {}), format.read(merged)];
    expect(streamed?.calls).toEqual(whole?.calls);
    expect(streamed?.usage).toEqual(whole?.usage);
    expect(format.identity(streamed?.unit ?? { wires: [] })).toEqual(format.identity(whole?.unit ?? { wires: [] }));
    expect(stream).not.toContain("lcm_grep");
  });
});
