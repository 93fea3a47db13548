import { type Session, type Varve, VarveError } from "../../index.ts";

export interface VarveToolsOptions {
  varve: Varve;
  /** The session in which the tools are used: they reach what its person may see. */
  session?: Session;
  /** Whether the tools are the owner's and reach everything, where there is no session. */
  owner?: boolean;
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
 * The tools for searching, opening and remembering, for the `tools` of `generateText`, `streamText` and agents. Without a
 * session they would be the owner's, so that is said: a missing session is `BAD_REQUEST`.
 *
 * @example
 * const tools = { ...(await varveTools({ varve, session })), weather };
 */
export async function varveTools({
  varve,
  session,
  owner,
  only,
}: VarveToolsOptions): Promise<Record<string, VarveTool>> {
  if (!session && owner !== true) {
    throw new VarveError("BAD_REQUEST", "The tools have no session: they would reach everything of everybody.", {
      remedy: "Pass the session of the person who speaks, or owner: true in a program of your own.",
    });
  }
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
