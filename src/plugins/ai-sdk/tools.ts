import { type Session, type Varve, VarveError } from "../../index.ts";

export interface VarveToolsOptions {
  varve: Varve;
  /** The session in which the tools are used; without it they search everything. */
  session?: Session;
  /** The names of the tools; all that are offered when absent. */
  only?: readonly string[];
}

/** A tool of the AI SDK, typed for versions 6 and 7 alike. */
export interface VarveTool {
  description: string;
  inputSchema: never;
  execute(input: unknown, options: unknown): Promise<string>;
}

/**
 * The tools for searching, opening and remembering, for the `tools` of `generateText`, `streamText` and agents.
 *
 * @example
 * const tools = { ...(await varveTools({ varve, session })), weather };
 */
export async function varveTools({ varve, session, only }: VarveToolsOptions): Promise<Record<string, VarveTool>> {
  const offered = await varve.tools(session ? { session } : {});
  const unknown = (only ?? []).filter((name) => offered.every((tool) => tool.name !== name));
  if (unknown.length > 0) {
    throw new VarveError("BAD_REQUEST", `There are no tools named ${unknown.join(", ")}.`, {
      remedy: `Use ${offered.map(({ name }) => name).join(", ")}.`,
    });
  }
  const chosen = offered.filter(({ name }) => only === undefined || only.includes(name));
  return Object.fromEntries(
    chosen.map((tool) => {
      const execute = async (input: unknown, options?: { abortSignal?: AbortSignal }): Promise<string> =>
        (await tool.run(input, options?.abortSignal ? { signal: options.abortSignal } : {})).markdown;
      const { description } = tool;
      return [tool.name, { description, inputSchema: tool.input, execute } as unknown as VarveTool];
    }),
  );
}
