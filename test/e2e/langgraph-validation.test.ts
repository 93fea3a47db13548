/** LangGraph's own suite for checkpointers, on every engine. */

import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { BaseCheckpointSaver } from "@langchain/langgraph";
import * as vitest from "vitest";
import { createCheckpointer } from "../../src/plugins/langgraph/index.ts";
import { onEveryEngine } from "../support/engines.ts";

/** Absent only when `VARVE_TEST_SKIP=langgraph` asked for it, or the test is run without `npm test`. */
const suite = process.env.VARVE_TEST_LANGGRAPH;

interface Initializer {
  checkpointerName: string;
  createCheckpointer(): BaseCheckpointSaver;
}
type SpecTest = (initializer: Initializer) => void;

if (suite === undefined) {
  vitest.test.skip("LangGraph's own suite for checkpointers", () => undefined);
} else {
  // The suite expects the functions of its test runner as globals.
  const { describe, it, expect, beforeAll, beforeEach, afterAll, afterEach } = vitest;
  Object.assign(globalThis, { describe, it, expect, beforeAll, beforeEach, afterAll, afterEach });
  const { specTest, deltaChannelHistoryTests } = (await import(
    pathToFileURL(join(suite, "dist", "index.js")).href
  )) as {
    specTest: SpecTest;
    deltaChannelHistoryTests: SpecTest;
  };
  onEveryEngine("LangGraph's own suite for checkpointers", (get) => {
    let count = 0;
    const initializer: Initializer = {
      checkpointerName: "varve",
      createCheckpointer: () => {
        count += 1;
        return createCheckpointer({ varve: get().varve, BaseCheckpointSaver, agent: `agent${count}` });
      },
    };
    specTest(initializer);
    deltaChannelHistoryTests(initializer);
  });
}
