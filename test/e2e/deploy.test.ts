/** The files of `deploy/` name only what exists: metrics, settings and routes. */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { loadConfig } from "../../src/config/index.ts";
import { settings } from "../../src/config/settings.ts";
import { parseAddress } from "../../src/store/postgres/address.ts";
import { type Stage, scratchHome, setStage, sha256 } from "./gateway-stage.ts";

const read = (name: string) => readFileSync(new URL(`../../deploy/${name}`, import.meta.url), "utf8");
const token = "the-token-of-this-test";
let stage: Stage;
beforeAll(async () => {
  stage = await setStage(
    { tokens: [{ name: "all", token: sha256(token), rights: ["read", "write", "admin"] }] },
    { config: { search: { embedder: "none" }, turn: { runner: "offline", debounceMs: 0 } } },
  );
});
afterAll(() => stage?.end());

test("the dashboard shows every metric that a gateway exports, and no other", async () => {
  const { text } = await stage.send("GET", "/metrics", { token });
  const exported = new Set([...text.matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name));
  const dashboard = JSON.parse(read("grafana/varve.json")) as { panels: { targets: { expr: string }[] }[] };
  const expressions = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
  const used = new Set(expressions.flatMap((expr) => [...expr.matchAll(/\bvarve_\w+/g)].map(([name]) => name)));
  expect(used.size).toBeGreaterThan(10);
  expect([...used].sort()).toEqual([...exported].sort());
});

test("the compose file names real settings, both servers, and files that are there", () => {
  const compose = parse(read("compose.yaml"), { merge: true }) as {
    services: Record<
      string,
      { environment?: Record<string, string>; volumes?: string[]; build?: { dockerfile: string } }
    >;
  };
  const gateways = Object.entries(compose.services).filter(([name]) => name.startsWith("gateway"));
  expect(gateways.map(([name]) => name)).toEqual(["gateway-1", "gateway-2"]);
  for (const [, { environment = {}, build }] of gateways) {
    const own = Object.keys(environment).filter((name) => name.startsWith("VARVE_") && name !== "VARVE_TOKEN");
    const known = settings.map(({ variable }) => variable);
    expect(own.filter((name) => !known.includes(name))).toEqual([]);
    const { servers, target } = parseAddress((environment.VARVE_DATABASE ?? "").replace(/\$\{.*?\}/, "x"));
    expect(servers.map(({ name }) => name)).toEqual(["primary:5432", "standby:5432"]);
    expect(target).toBe("read-write");
    for (const { name } of servers) expect(compose.services).toHaveProperty(name.split(":")[0] ?? "");
    expect(read((build?.dockerfile ?? "").replace("deploy/", ""))).toContain('CMD ["varve", "start"]');
  }
  const mounted = Object.values(compose.services).flatMap(({ volumes = [] }) =>
    volumes.filter((volume) => volume.startsWith("./")).map((volume) => volume.slice(2).split(":")[0] ?? ""),
  );
  expect(mounted).toEqual(["postgres/primary.sh", "postgres/standby.sh", "haproxy.cfg"]);
  for (const file of mounted) expect(read(file).length).toBeGreaterThan(0);
});

test("the settings of the gateways are valid, and the proxy asks for a route that is there", async () => {
  const config = parse(read("config.yaml")) as Parameters<typeof loadConfig>[0] extends { overrides?: infer O }
    ? O
    : never;
  const loaded = loadConfig({ home: scratchHome(), env: {}, overrides: config });
  expect(loaded.config.gateway).toMatchObject({ host: "0.0.0.0", tokens: [{ token: "env:VARVE_TOKEN" }] });
  const [, path = ""] = /http-check send meth GET uri (\S+)/.exec(read("haproxy.cfg")) ?? [];
  expect((await stage.send("GET", path)).json).toEqual({ status: "ready" });
});
