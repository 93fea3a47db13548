/** Every tool and the MCP wire with hostile input: an error that says what to send, never a crash. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type BoundTool, VarveError } from "../../src/index.ts";
import { type Stage, setStage, sha256 } from "../e2e/gateway-stage.ts";
import { onEveryEngine } from "../support/engines.ts";
import { isLongRun } from "../support/long-run.ts";
import { type Rng, rngOf, seedOfRun } from "../support/rng.ts";
import { hostileText, hostileValue, mutateBytes, mutateJson } from "./hostile-values.ts";

const seed = seedOfRun();
const callsPerTool = isLongRun ? 1_000 : 30;

interface Field {
  type?: string;
  enum?: unknown[];
  items?: Field;
}

/** An input with hostile values in some of the tool's parameters. */
function hostileInput(rng: Rng, { inputSchema }: { inputSchema: { properties?: Record<string, Field> } }): unknown {
  if (rng.int(0, 9) === 0) return hostileValue(rng);
  const fields = Object.entries(inputSchema.properties ?? {}).flatMap(([name, field]): [string, unknown][] => {
    const fate = rng.int(0, 3);
    if (fate === 0) return [];
    return [[name, fate === 1 ? hostileValue(rng) : fittingValue(rng, field)]];
  });
  return Object.fromEntries(fields);
}

/** A value of the declared type with hostile content. */
function fittingValue(rng: Rng, { type, enum: values, items }: Field): unknown {
  if (values) return rng.pick(values);
  if (type === "array") return [fittingValue(rng, items ?? { type: "string" })];
  if (type === "boolean") return rng.pick([true, false]);
  if (type === "integer" || type === "number") return rng.pick([-1, 0, 1, 1.5, 2 ** 31, 2 ** 53, 1e308]);
  return hostileText(rng);
}

onEveryEngine(`hostile input of tools (VARVE_TEST_SEED=${seed})`, (get) => {
  test("is answered, or refused with what to send", async () => {
    const { varve } = get();
    const session = await varve.sessions.resolve({ key: "agent:main:tools" });
    await varve.context.ingest(session, [{ role: "user", content: "The valve is blue." }]);
    const faults: string[] = [];
    for (const setting of [{}, { session }]) {
      for (const tool of await varve.tools(setting)) faults.push(...(await fuzzTool(tool)));
    }
    expect(faults, `seed ${seed}`).toEqual([]);
    const { findings } = await varve.doctor();
    expect(findings.flatMap((finding) => finding.faults)).toEqual([]);
  });
});

async function fuzzTool(tool: BoundTool): Promise<string[]> {
  const rng = rngOf(seed, tool.name);
  const faults: string[] = [];
  const { toJSONSchema } = await import("zod");
  const inputSchema = toJSONSchema(tool.input, { io: "input", unrepresentable: "any" }) as {
    properties?: Record<string, Field>;
  };
  for (let count = 0; count < callsPerTool; count += 1) {
    const input = hostileInput(rng, { inputSchema });
    try {
      await tool.run(input);
    } catch (error) {
      const isClear = error instanceof VarveError && error.code !== "INTERNAL" && error.message.length < 8_000;
      if (!isClear) faults.push(`${tool.name} ${printInput(input)}: ${error}`);
    }
  }
  return faults;
}

function printInput(input: unknown): string {
  return (JSON.stringify(input) ?? "undefined").slice(0, 300);
}

describe(`a hostile client of MCP (VARVE_TEST_SEED=${seed})`, () => {
  let stage: Stage;
  beforeAll(async () => {
    const tokens = [{ name: "all", token: sha256("all"), rights: ["read" as const, "write" as const] }];
    stage = await setStage({ requestsPerMinute: 10_000_000, tokens });
  });
  afterAll(() => stage.end());

  test("gets an answer for every message", async () => {
    const rng = rngOf(seed, "mcp");
    const good = [
      { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} },
      { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "lcm_grep", arguments: { pattern: "valve" } } },
      {
        jsonrpc: "2.0",
        id: 1,
        method: "initialize",
        params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "x", version: "1" } },
      },
      { jsonrpc: "2.0", id: 1, method: "ping" },
    ];
    const headers = { accept: "application/json, text/event-stream", "mcp-protocol-version": "2025-06-18" };
    for (let count = 0; count < (isLongRun ? 2_000 : 120); count += 1) {
      const sample = rng.pick(good);
      const body =
        rng.int(0, 3) === 0
          ? mutateBytes(rng, Buffer.from(JSON.stringify(sample)))
          : (JSON.stringify(mutateJson(rng, sample)) ?? "");
      const answer = await stage.send("POST", "/mcp", { token: "all", body, headers });
      expect(answer.status, `seed ${seed}, ${count}: ${String(body).slice(0, 400)}\n${answer.text}`).toBeLessThan(500);
    }
    const alive = await stage.send("POST", "/mcp", { token: "all", body: good[0], headers });
    expect(alive.status, alive.text).toBe(200);
    // A message that is no JSON-RPC is logged as refused; anything else would be a failure of the gateway.
    const failures = stage.log.filter((record) => record.event === "error");
    expect(failures.filter((record) => !String(record.error).includes("Rejected inbound request"))).toEqual([]);
  });
});
