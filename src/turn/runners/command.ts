import type { Config } from "../../config/index.ts";
import { VarveError } from "../../domain/index.ts";
import { runProgram } from "../../models/index.ts";
import { onePrompt } from "./one-prompt.ts";
import type { Runner } from "./port.ts";

/** Runs any program that reads a prompt and writes a reply. */
export function commandRunner({ command, historyLimit }: Config["turn"]): Runner {
  const { program, args } = command;
  if (program === undefined) {
    throw new VarveError("BAD_CONFIG", "turn.runner is command, and no program is named.", {
      remedy: "Set turn.command.program, or choose another turn.runner.",
    });
  }
  return {
    name: "command",
    takes: "prompt",
    async run(request) {
      const { signal, onText } = request;
      const input = `${request.system}\n\n${onePrompt(request, historyLimit)}\n`;
      const { output } = await runProgram({ program, args, input, signal, onOutput: onText });
      const text = output.trim();
      if (text === "") throw new VarveError("MODEL_FAILED", `${program} wrote nothing.`);
      return { message: { role: "assistant", content: text, model: program }, finishReason: "stop", notes: [] };
    },
  };
}
