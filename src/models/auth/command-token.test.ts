import { expect, test } from "vitest";
import { CachedToken } from "./cached-token.ts";
import { type CommandSettings, runTokenCommand } from "./command-token.ts";

const clock = { time: 1_700_000_000_000, now: () => clock.time };
const program = (code: string) => [process.execPath, "-e", code];
const ask = (command: CommandSettings["command"], rest: Partial<CommandSettings> = {}) =>
  runTokenCommand({ name: "vault", command, timeoutMs: 600_000, env: process.env, clock, ...rest });

test("the trimmed output of a program is the key", async () => {
  expect(await ask(program("console.log('  key-1  ')"))).toEqual({ value: "key-1" });
  // The text is split at whitespace; no shell is involved.
  expect((await ask(`${process.execPath} -p process.version`)).value).toBe(process.version);
  expect((await ask([process.execPath, "-p", "process.argv[1]", "$HOME;ls"])).value).toBe("$HOME;ls");
});

test("a JSON answer states its expiry, and is renewed ahead of it", async () => {
  const at = clock.time + 1_000_000;
  const say = (expiresAt: unknown) => program(`console.log(JSON.stringify({token:"t",expiresAt:${expiresAt}}))`);
  const wanted = { value: "t", expiresAt: at, renewAt: at - 100_000 };
  expect(await ask(say(at))).toEqual(wanted);
  expect(await ask(say(at / 1_000))).toEqual(wanted);
  expect(await ask(say(`"${new Date(at).toISOString()}"`))).toEqual(wanted);
  expect((await ask(say(at), { refreshMs: 5_000 })).renewAt).toBe(clock.time + 5_000);
});

test.each([
  ["nothing", "process.exit(0)", "BAD_CONFIG", /printed nothing/],
  ["two lines", "console.log('secret-1\\nsecret-2')", "BAD_CONFIG", /more than one word/],
  ["broken JSON", 'console.log(\'{"token": "secret-1\')', "BAD_CONFIG", /not JSON/],
  ["JSON of another form", 'console.log(\'{"key": "secret-1"}\')', "BAD_CONFIG", /without a token/],
  [
    "no end",
    "setInterval(() => process.stdout.write('secret-1'.repeat(10000)), 1)",
    "MODEL_FAILED",
    /printed more than/,
  ],
  [
    "a failure",
    `console.log('secret-1'); console.error('locked: sk-ant-${"aB3dE6".repeat(5)} ${"aB3dE6".repeat(4)}'); process.exit(3)`,
    "MODEL_FAILED",
    /exited with 3\. Its error output: locked: \[Anthropic key removed\] \[removed\]/,
  ],
])("%s instead of a key is an error that reveals no secret", async (_, code, errorCode, message) => {
  const error = await ask(program(code)).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: errorCode, message: expect.stringMatching(message), remedy: expect.any(String) });
  expect(JSON.stringify([error, String((error as Error).cause)])).not.toMatch(/secret-1|aB3dE6/);
});

test("a program that is missing or too slow is named", async () => {
  await expect(ask(["/nonexistent/vault"])).rejects.toMatchObject({
    code: "BAD_CONFIG",
    message: expect.stringContaining("There is no program /nonexistent/vault"),
  });
  await expect(ask(program("setInterval(() => 0, 60000)"), { timeoutMs: 200 })).rejects.toThrow(
    /did not finish within 200 ms/,
  );
});

test("a key is cached until it expires or is rejected, and concurrent callers share one request", async () => {
  let asked = 0;
  const source = new CachedToken(async () => ({ value: `key-${++asked}`, renewAt: clock.time + 1_000 }), clock);
  expect(await Promise.all([source.token(), source.token()])).toEqual(["key-1", "key-1"]);
  clock.time += 1_001;
  expect(await source.token()).toBe("key-2");
  expect(await source.renew("key-1")).toBe("key-2");
  expect(await source.renew("key-2")).toBe("key-3");
  expect(await source.renew("key-3"), "a replacement that is rejected soon is not renewed again").toBeUndefined();
  clock.time += 60_001;
  expect(await source.renew("key-3")).toBe("key-4");
});

test("a caller whose key was rejected waits for the request in progress, and asks again when it returns the same key", async () => {
  const makings: ((value: string) => void)[] = [];
  const make = () => new Promise<{ value: string }>((resolve) => makings.push((value) => resolve({ value })));
  const source = new CachedToken(make, clock);
  const first = source.token();
  const again = source.renew("key-1");
  makings[0]?.("key-1");
  expect(await first).toBe("key-1");
  await new Promise((resolve) => setImmediate(resolve));
  makings[1]?.("key-2");
  expect(await again).toBe("key-2");
});

test("after a failure it pauses; a key that is still valid is used meanwhile", async () => {
  let asked = 0;
  let failing = true;
  const make = async () => {
    asked += 1;
    if (failing) throw new Error("locked");
    return { value: "key", expiresAt: clock.time + 100_000, renewAt: clock.time + 90_000 };
  };
  const source = new CachedToken(make, clock);
  await expect(source.token()).rejects.toThrow("locked");
  await expect(source.token()).rejects.toThrow("locked");
  expect(asked).toBe(1);
  failing = false;
  clock.time += 10_001;
  expect(await source.token()).toBe("key");
  failing = true;
  clock.time += 95_000;
  expect(await source.token()).toBe("key");
  clock.time += 10_000;
  await expect(source.token()).rejects.toThrow("locked");
});

test("a caller that gives up does not cancel the request for others", async () => {
  const { promise, resolve } = Promise.withResolvers<{ value: string }>();
  const source = new CachedToken(() => promise, clock);
  const impatient = new AbortController();
  const [gone, patient] = [source.token(impatient.signal), source.token()];
  impatient.abort();
  await expect(gone).rejects.toMatchObject({ name: "AbortError" });
  resolve({ value: "key" });
  expect(await patient).toBe("key");
});
