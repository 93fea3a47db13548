import { styleText } from "node:util";
import { showControls } from "../../domain/index.ts";
import type { TurnEvent, TurnResult } from "../../index.ts";
import { number } from "../output.ts";

/** Displays a turn while it runs. */
export interface Screen {
  event(event: TurnEvent): void;
  /** Ends the display of a turn, with a line about its tokens and duration. */
  end(result: TurnResult, seconds: number): void;
}

const frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const frameMs = 90;
const inputShown = 80;

/** Streams text and tool calls, and ends with a line about the context. */
export function terminalScreen(out: NodeJS.WriteStream): Screen {
  let shown = "";
  let frame = 0;
  let spinner: NodeJS.Timeout | undefined;
  const dim = (text: string): string => styleText("dim", text, { stream: out });
  const clear = (): void => {
    if (spinner === undefined) return;
    clearInterval(spinner);
    spinner = undefined;
    out.write("\r\u001b[2K");
  };
  const spin = (): void => {
    spinner ??= setInterval(() => {
      frame = (frame + 1) % frames.length;
      out.write(`\r${dim(`${frames[frame]} thinking`)}`);
    }, frameMs);
  };
  const printNote = (text: string): void => {
    clear();
    out.write(`${shown.endsWith("\n") || shown === "" ? "" : "\n"}${dim(showControls(text))}\n`);
    shown = "";
    spin();
  };
  return {
    event(event) {
      if (event.type === "started") spin();
      else if (event.type === "text") {
        clear();
        out.write(showControls(event.text));
        shown += event.text;
      } else if (event.type === "tool-call") {
        const input = JSON.stringify(event.input) ?? "";
        printNote(`· ${event.name} ${input.length > inputShown ? `${input.slice(0, inputShown)}…` : input}`);
      } else if (event.type === "tool-result" && event.isError)
        printNote(`· ${event.name}: ${event.text.split("\n")[0]}`);
      else if (event.type === "restarted") printNote(`· restarted: ${event.because}`);
    },
    end(result, seconds) {
      clear();
      const late = result.reply.startsWith(shown.trim())
        ? result.reply.slice(shown.trim().length)
        : `\n${result.reply}`;
      if (result.status === "command" || shown.trim() === "") out.write(showControls(result.reply));
      else if (late.trim() !== "") out.write(showControls(late));
      if (result.reply !== "" || shown !== "") out.write("\n");
      if (result.status === "silent") out.write(`${dim("(no reply)")}\n`);
      if (result.status === "interrupted") out.write(`${dim("(interrupted)")}\n`);
      if (result.error) out.write(`${styleText("red", showControls(formatError(result.error)), { stream: out })}\n`);
      for (const note of result.notes) out.write(`${dim(showControls(`· ${note}`))}\n`);
      const line = statusLine(result, seconds);
      if (line !== "") out.write(`${dim(line)}\n`);
      shown = "";
    },
  };
}

/** Prints replies only, for a pipe or a file. */
export function plainScreen(out: NodeJS.WritableStream): Screen {
  return {
    event: () => undefined,
    end: (result) => {
      if (result.reply !== "") out.write(`${showControls(result.reply)}\n`);
      if (result.error) process.stderr.write(`varve: ${showControls(formatError(result.error))}\n`);
    },
  };
}

function formatError({ message, remedy }: NonNullable<TurnResult["error"]>): string {
  return remedy === undefined ? message : `${message}\n  → ${remedy}`;
}

function statusLine({ model, runner, context, usage }: TurnResult, seconds: number): string {
  if (runner === undefined) return "";
  const parts = [model ?? runner];
  if (context !== undefined && model !== undefined) {
    const share = Math.round((100 * context.tokens) / context.window);
    parts.push(`context ${number(context.tokens)} of ${number(context.window)} tokens (${share}%)`);
  }
  if (usage !== undefined) parts.push(`${number(usage.outputTokens)} out`);
  parts.push(`${seconds.toFixed(1)} s`);
  return parts.join(" · ");
}
