/** Separates what a person typed from what a program injected and what was pasted. */

/** Blocks that programs put into user messages; their content is not the person's. */
const injectedBlock =
  /<(system-reminder|command-message|command-name|local-command-stdout|local-command-stderr|local-command-caveat|environment_context|user_instructions|turn_context|ide_opened_file|ide_selection|bash-input|bash-stdout|bash-stderr|task-notification|user-prompt-submit-hook|post-tool-use-hook|system_reminder|attachment|INSTRUCTIONS|permissions|collaboration_mode|skill)\b[^>]*>[\s\S]*?<\/\1>/gi;

const injectedStart =
  /^(?:Caveat: The messages below|\[Request interrupted|This session is being continued|# AGENTS\.md instructions|Base directory for this skill|Your task is to create a detailed summary|The user (?:doesn't want|opened)|\[Image[:#]|<user-memory-input>|A new session was started)/i;

/** The typed part of a user message, or an empty text. */
export function readTypedText(text: string): string {
  // A slash command with arguments: the arguments are the person's words.
  const typedArguments = [...text.matchAll(/<command-args>([\s\S]*?)<\/command-args>/g)].map((found) => found[1] ?? "");
  const rest = text
    .replace(/<command-args>[\s\S]*?<\/command-args>/g, "")
    .replace(injectedBlock, "")
    .trim();
  if (injectedStart.test(rest)) return "";
  const typed = [...typedArguments, rest].filter((part) => part.trim() !== "").join("\n");
  const command = /^\/[\w:-]*(?:\s+|$)/.exec(typed);
  return (command === null ? typed : typed.slice(command[0].length)).trim();
}

const pastedLine = [
  // Indented code, traces and listings.
  /^(?:\t| {3,})\S/,
  /^\s*(?:at |File "|\.\.\. \d+ more)/,
  /^\s*(?:[➜❯$%]\s|\w+@[\w-]+[:~]|PS [A-Z]:|>>> |In \[\d+\])/,
  /^\s*>(?!=)/,
  /^\s*[+-]\s*\d+\s/,
  /^(?:diff --git|index [0-9a-f]{6,}|@@ |--- [ab]\/|\+\+\+ [ab]\/)/,
  /^\s*\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d/,
  /^\s*\[?\d\d:\d\d:\d\d/,
  /^\s*(?:[\w.]*(?:Error|Exception)|Traceback|npm (?:ERR!|error|warn)|error(?:\[\w+\]| TS\d+)|FAIL|PASS|WARN(?:ING)?|ERROR|INFO|DEBUG|fatal|panic)\b[:( ]/,
  /^\s*(?:import |export |const |let |var |function |class |def |return |if \(|for \(|#include|package |public |private |SELECT |INSERT |CREATE |UPDATE .* SET)/,
  /[{};]\s*$/,
  /^\s*[{}[\]()<|].*[}\])>|,]?\s*$/,
  /[─━│┃┌└├╭╰═⎿⠇]{2,}|^\s*[─━│┃┌└├╭╰═⎿⠇]/,
];

/** The typed lines of a message: without code, logs, terminal output, quotations and listings. */
export function dropPastedLines(text: string): string {
  const lines = text.replace(/```[\s\S]*?(?:```|$)/g, "\n").split("\n");
  const typed: string[] = [];
  let pasted = false;
  let hasPaste = false;
  for (const line of lines) {
    if (line.trim() === "") pasted = false;
    // The rest of a block belongs to the line that shows it was pasted.
    else if (isPasted(line)) {
      pasted = true;
      hasPaste = true;
    } else if (!pasted && !(hasPaste && isRemnant(line))) typed.push(line);
  }
  return typed.join("\n").trim();
}

function isPasted(line: string): boolean {
  if (pastedLine.some((pattern) => pattern.test(line))) return true;
  const letters = line.match(/[\p{L}\p{N}\s]/gu)?.length ?? 0;
  return line.length > 24 && letters / line.length < 0.6 && !/https?:|[/\\]/.test(line);
}

/** A lone word or version between pasted blocks is a part of them. */
function isRemnant(line: string): boolean {
  return /^\s*\S+\s*$/.test(line) || /^\s*\S+ v?\d+\.\d+\S*\s*$/.test(line);
}
