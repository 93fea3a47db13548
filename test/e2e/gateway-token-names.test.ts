/** Names of access tokens: none is that of another caller, and the audit log tells two tokens with one name apart. */
import { readFileSync } from "node:fs";
import { afterEach, expect, it } from "vitest";
import { type Stage, setStage, sha256 } from "./gateway-stage.ts";

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function staged(...given: Parameters<typeof setStage>): Promise<Stage> {
  const stage = await setStage(...given);
  ends.push(stage.end);
  return stage;
}

const configured = (name: string, expiresAt?: string) => ({
  name,
  token: sha256(`secret of ${name}`),
  rights: ["read" as const],
  ...(expiresAt === undefined ? {} : { expiresAt }),
});

it("refuses names of other callers and equal names in the settings", async () => {
  for (const name of ["owner", "Local", "anonymous", "browser 1", "token file"]) {
    await expect(staged({ tokens: [configured(name)] }), name).rejects.toMatchObject({
      code: "BAD_CONFIG",
      message: expect.stringContaining("gateway.tokens"),
    });
  }
  await expect(staged({ tokens: [configured("laptop"), configured("laptop")] })).rejects.toMatchObject({
    code: "BAD_CONFIG",
    message: expect.stringContaining("same name"),
  });
});

it("refuses such names in the database, and those of tokens in the settings that have not expired", async () => {
  const stage = await staged({ tokens: [configured("laptop"), configured("old", "2020-01-01")] });
  const create = (name: string) => stage.varve.accessTokens.create({ name, rights: ["read"] });
  for (const name of ["owner", "LOCAL", "anonymous", "browser", "Browser of Ann", "x (token_1)"]) {
    await expect(create(name), name).rejects.toMatchObject({ code: "BAD_REQUEST" });
  }
  await expect(create("laptop")).rejects.toMatchObject({
    code: "CONFLICT",
    message: expect.stringContaining("gateway.tokens"),
  });
  expect((await create("old")).token.name).toBe("old");
});

it("does not start with a token of the settings that has the name of an active one in the database", async () => {
  const made: { id?: string } = {};
  const create = async (stage: Stage) => {
    const { token } = await stage.varve.accessTokens.create({ name: "ci", rights: ["read"] });
    made.id = token.id;
  };
  const stage = await staged({});
  await create(stage);
  const { startGateway } = await import("../../src/http/index.ts");
  const { openVarve } = await import("../../src/index.ts");
  const open = () =>
    openVarve({ home: stage.home, background: false, config: { gateway: { tokens: [configured("ci")] } } });
  const varve = await open();
  ends.push(() => varve.close());
  await expect(startGateway(varve, { port: 0 })).rejects.toMatchObject({
    code: "BAD_CONFIG",
    message: expect.stringContaining(made.id ?? "none"),
  });
  await varve.accessTokens.revoke("ci");
  await (await startGateway(varve, { port: 0 })).close();
});

it("records a token of the database with its name and its id", async () => {
  const stage = await staged({ audit: true });
  const first = await stage.varve.accessTokens.create({ name: "laptop", rights: ["read", "write"] });
  await stage.send("GET", "/api/sessions", { token: first.secret });
  const second = await stage.varve.accessTokens.rotate("laptop", { grace: "1h" });
  await stage.send("GET", "/api/sessions", { token: second.secret });
  await stage.send("GET", "/api/sessions", { token: first.secret });
  await stage.send("GET", "/api/me", { token: readFileSync(stage.gateway.tokenFile ?? "", "utf8").trim() });
  const [old, next] = [first.token.id, second.token.id].map((id) => `laptop (${id})`);
  const names = async (principal?: string) =>
    (await stage.varve.audit.list({ principal })).map((one) => one.principal).toReversed();
  await expect.poll(() => names()).toEqual([old, next, old, "token file"]);
  expect(await names("laptop")).toEqual([old, next, old]);
  expect(await names(second.token.id)).toEqual([next]);
  expect(await names(old)).toEqual([old, old]);
  expect(await names("lap%")).toEqual([]);
  expect(await stage.varve.audit.verify()).toMatchObject({ intact: true, rows: 4 });
});
