import { styleText } from "node:util";
import type { TurnEvent, TurnResult } from "../../engine.ts";
import { number } from "../output.ts";

/** Shows a turn as it happens. */
export interface Screen {
  event(event: TurnEvent): void;
  /** The end of the turn, with how much of the window it took and how long. */
  end(result: TurnResult, seconds: number): void;
}

const frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const frameMs = 90;
const inputShown = 80;

/** On a terminal: words as they come, tools as they are used, and a line about the context at the end. */
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
  const aside = (text: string): void => {
    clear();
    out.write(`${shown.endsWith("\n") || shown === "" ? "" : "\n"}${dim(text)}\n`);
    shown = "";
    spin();
  };
  return {
    event(event) {
      if (event.type === "started") spin();
      else if (event.type === "text") {
        clear();
        out.write(event.text);
        shown += event.text;
      } else if (event.type === "tool-call") {
        const input = JSON.stringify(event.input) ?? "";
        aside(`· ${event.name} ${input.length > inputShown ? `${input.slice(0, inputShown)}…` : input}`);
      } else if (event.type === "tool-result" && event.isError) aside(`· ${event.name}: ${event.text.split("\n")[0]}`);
      else if (event.type === "restarted") aside(`· begun again: ${event.because}`);
    },
    end(result, seconds) {
      clear();
      const late = result.reply.startsWith(shown.trim())
        ? result.reply.slice(shown.trim().length)
        : `\n${result.reply}`;
      if (result.status === "command" || shown.trim() === "") out.write(result.reply);
      else if (late.trim() !== "") out.write(late);
      if (result.reply !== "" || shown !== "") out.write("\n");
      if (result.status === "silent") out.write(`${dim("(nothing to say)")}\n`);
      if (result.status === "interrupted") out.write(`${dim("(interrupted)")}\n`);
      if (result.error) out.write(`${styleText("red", problem(result.error), { stream: out })}\n`);
      for (const note of result.notes) out.write(`${dim(`· ${note}`)}\n`);
      const line = statusLine(result, seconds);
      if (line !== "") out.write(`${dim(line)}\n`);
      shown = "";
    },
  };
}

/** Into a pipe or a file: the replies alone. */
export function plainScreen(out: NodeJS.WritableStream): Screen {
  return {
    event: () => undefined,
    end: (result) => {
      if (result.reply !== "") out.write(`${result.reply}\n`);
      if (result.error) process.stderr.write(`varve: ${problem(result.error)}\n`);
    },
  };
}

function problem({ message, remedy }: NonNullable<TurnResult["error"]>): string {
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
