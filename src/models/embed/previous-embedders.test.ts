import { afterEach, expect, test } from "vitest";
import { loadConfig } from "../../config/index.ts";
import { systemClock, systemRandom } from "../../domain/index.ts";
import { LocalEmbedder } from "./local-embedder.ts";
import { formatSpaceName } from "./port.ts";
import { PreviousEmbedders } from "./previous-embedders.ts";

const opened: PreviousEmbedders[] = [];
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
});

function open(models: object = {}, provided: ConstructorParameters<typeof PreviousEmbedders>[1] = []) {
  const loaded = loadConfig({ home: "/nonexistent-varve-home", env: {}, overrides: { models } });
  const embedders = new PreviousEmbedders({ loaded, clock: systemClock, random: systemRandom }, provided);
  opened.push(embedders);
  return embedders;
}

test("the model that comes with the package can always be opened by the name of its space, once", () => {
  const embedders = open();
  const local = embedders.open("local/minilm-l6-v2/384");
  expect(local).toBeInstanceOf(LocalEmbedder);
  expect(embedders.open("local/minilm-l6-v2/384")).toBe(local);
});

test("a model over a network can while its provider is in the settings", () => {
  const providers = { lab: { baseUrl: "http://127.0.0.1:9/v1" } };
  const name = "lab/BAAI/bge-m3:latest/1024";
  const embedder = open({ providers }).open(name);
  expect(embedder && formatSpaceName(embedder.space)).toBe(name);
  expect(open().open(name)).toBeUndefined();
});

test("what a program provides comes first, and a name that is none opens nothing", () => {
  const own = new LocalEmbedder({ cacheFolder: "/nonexistent" });
  expect(open({}, [own]).open("local/minilm-l6-v2/384")).toBe(own);
  for (const name of ["", "lab", "lab/3", "lab/model/many", "local/another/7"])
    expect(open().open(name)).toBeUndefined();
});
