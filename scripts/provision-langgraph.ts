/** Makes sure that LangGraph's own tests of checkpointers are here. They bring a test runner, so they are no dependency. */
import { provisionNpmProgram, runProvisioning } from "./provision-npm-program.ts";

const title = "LangGraph's tests of checkpointers";

/** Brings the tests into the clone's cache when they are not there, and gives their folder. */
export function provisionLanggraph(): string {
  return provisionNpmProgram({
    title,
    package: "@langchain/langgraph-checkpoint-validation",
    version: "1.1.1",
    folder: "langgraph-validation",
    resource: "langgraph",
  });
}

if (import.meta.main) runProvisioning(title, provisionLanggraph);
