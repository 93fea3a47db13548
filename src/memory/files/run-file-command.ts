import { z } from "zod";
import { VarveError } from "../../domain/index.ts";
import type { Store } from "../../store/index.ts";
import { formatEdit, formatFile, insertLines, replaceText } from "./edits.ts";
import { changeFiles, type FileVersion, readCurrentFiles, writeVersion } from "./rows.ts";

const text = z
  .string()
  .max(1_000_000)
  .refine((value) => !value.includes("\u0000") && value.isWellFormed());
const path = z.string().transform(checkPath);
/** The commands of Anthropic's client-side memory tool. */
const command = z.discriminatedUnion("command", [
  z.object({ command: z.literal("view"), path, view_range: z.tuple([z.int(), z.int()]).nullish() }),
  z.object({ command: z.literal("create"), path, file_text: text }),
  z.object({ command: z.literal("str_replace"), path, old_str: text, new_str: text.default("") }),
  z.object({ command: z.literal("insert"), path, insert_line: z.int(), insert_text: text }),
  z.object({ command: z.literal("delete"), path }),
  z.object({ command: z.literal("rename"), old_path: path, new_path: path }),
]);
export type FileCommand = z.input<typeof command>;

/**
 * Runs a command of the memory tool on the files of a scope. Answers have the wording that models are trained on.
 * Nothing is overwritten: every change creates a version.
 */
export async function runFileCommand(store: Store, scope: string, input: unknown): Promise<string> {
  const parsed = command.safeParse(input);
  if (!parsed.success) throw createCommandError(parsed.error);
  const asked = parsed.data;
  if (asked.command === "view") return view(await readCurrentFiles(store.db, scope), asked.path, asked.view_range);
  return changeFiles(store, scope, async (tx) => {
    const files = await readCurrentFiles(tx.db, scope);
    const write = (at: string, content: string | null) => writeVersion(tx, scope, at, content, store.clock.now());
    switch (asked.command) {
      case "create":
        if (asked.path === root || filesUnder(files, asked.path).length > 0)
          throw createConflictError(`File ${asked.path}`);
        refuseBelowFile(files, asked.path);
        await write(asked.path, asked.file_text);
        return `File created successfully at: ${asked.path}`;
      case "str_replace": {
        const content = replaceText(getContent(files, asked.path), asked);
        await write(asked.path, content);
        return formatEdit(content, asked.new_str);
      }
      case "insert": {
        await write(asked.path, insertLines(getContent(files, asked.path), asked));
        return `The file ${asked.path} has been edited.`;
      }
      case "delete":
        for (const file of requireFiles(files, asked.path)) await write(file.path, null);
        return `Successfully deleted ${asked.path}`;
      case "rename": {
        const moved = requireFiles(files, asked.old_path);
        if (filesUnder(files, asked.new_path).length > 0)
          throw createConflictError(`The destination ${asked.new_path}`);
        refuseBelowFile(files, asked.new_path);
        for (const file of moved) {
          await write(file.path, null);
          await write(asked.new_path + file.path.slice(asked.old_path.length), file.content);
        }
        return `Successfully renamed ${asked.old_path} to ${asked.new_path}`;
      }
    }
  });
}

function view(files: readonly FileVersion[], at: string, range?: [number, number] | null): string {
  const file = files.find((one) => one.path === at);
  if (file) return formatFile(at, file.content ?? "", range);
  const inside = files.filter((one) => one.path.startsWith(`${at}/`));
  if (inside.length === 0 && at !== root) throw createNotFoundError(at);
  const names = new Set([at]);
  for (const one of inside) {
    const rest = one.path.slice(at.length + 1).split("/");
    for (let depth = 1; depth <= Math.min(2, rest.length); depth += 1)
      names.add(`${at}/${rest.slice(0, depth).join("/")}`);
  }
  const measureFile = (name: string) =>
    files
      .filter((one) => one.path === name || one.path.startsWith(`${name}/`))
      .reduce((sum, one) => sum + Buffer.byteLength(one.content ?? ""), 0);
  const lines = [...names].sort().map((name) => `${(measureFile(name) / 1024).toFixed(1)}K\t${name}`);
  return `Here're the files and directories up to 2 levels deep in ${at}, excluding hidden items and node_modules:\n${lines.join("\n")}`;
}

/** A file, or all files of a folder. */
function filesUnder(files: readonly FileVersion[], at: string): FileVersion[] {
  return files.filter((one) => one.path === at || one.path.startsWith(`${at}/`));
}

function requireFiles(files: readonly FileVersion[], at: string): FileVersion[] {
  const found = at === root ? [] : filesUnder(files, at);
  if (found.length === 0) throw createNotFoundError(at);
  return found;
}

function refuseBelowFile(files: readonly FileVersion[], at: string): void {
  const parent = files.find((one) => at.startsWith(`${one.path}/`));
  if (parent) throw createConflictError(`File ${parent.path}`);
}

function getContent(files: readonly FileVersion[], at: string): string {
  const file = files.find((one) => one.path === at);
  if (!file) throw createNotFoundError(at);
  return file.content ?? "";
}

function createNotFoundError(at: string): VarveError {
  return new VarveError("NOT_FOUND", `The path ${at} does not exist. Please provide a valid path.`, {
    remedy: `View ${root} to list the files.`,
  });
}

function createConflictError(what: string): VarveError {
  return new VarveError("CONFLICT", `${what} already exists`, {
    remedy: "Use another path, or edit the existing file.",
  });
}

function createCommandError(error: z.ZodError): VarveError {
  const [issue] = error.issues;
  const where = issue?.path.join(".") ?? "";
  return new VarveError("BAD_REQUEST", `Invalid command: ${where} ${issue?.message ?? ""}`.trim(), {
    remedy: "Send view, create, str_replace, insert, delete or rename, with the parameters of the memory tool.",
  });
}

const root = "/memories";
const pathCharsMax = 500;

/** Normalises a path under `/memories`. Rejects traversal, also in encoded form. */
export function checkPath(path: string): string {
  const clean = path.replace(/(?<!\/)\/+$/, "");
  const segments = clean.split("/").slice(1);
  const isInside = clean === root || clean.startsWith(`${root}/`);
  const isPlain = segments.every((segment) => segment !== "" && segment !== "." && segment !== "..");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters have no place in a path.
  const isSafe = path.length <= pathCharsMax && path.isWellFormed() && !/[\u0000-\u001f\\]|%2e|%2f|%5c/i.test(path);
  if (isInside && isPlain && isSafe) return clean;
  throw new VarveError("BAD_REQUEST", `The path ${JSON.stringify(path.slice(0, 200))} is not under ${root}.`, {
    remedy: `Send a path such as ${root}/notes.md, without "..".`,
  });
}
