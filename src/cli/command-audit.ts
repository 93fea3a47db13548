import type { Command } from "commander";
import { toVarveError } from "../domain/index.ts";
import type { Varve } from "../index.ts";
import { commandRights } from "./command-rights.ts";

/** What an argument must look like to be recorded: a session key, a citation, a session id. Others may be content. */
const idForm =
  /^(?:agent:\S+|global|(?:sum|file|mem|grant|token)_[\w-]+|msg#\d+|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$/;

/** Arguments that are always ids. */
const idArguments = new Set(["person", "token", "channel", "id"]);

let current: { action: string; targets: Record<string, string> } = { action: "varve", targets: {} };

/** Notes the command that is about to run. A process runs one command. */
export function noteCommand(command: Command): void {
  const names: string[] = [];
  for (let one: Command | null = command; one !== null; one = one.parent) names.unshift(one.name());
  const targets: Record<string, string> = {};
  for (const [index, argument] of command.registeredArguments.entries()) {
    const value: unknown = command.processedArgs[index];
    if (typeof value === "string" && (idArguments.has(argument.name()) || idForm.test(value)))
      targets[argument.name()] = value;
  }
  const { agent, session } = command.opts<{ agent?: string; session?: string }>();
  if (agent !== undefined) targets.agent = agent;
  if (session !== undefined && idForm.test(session)) targets.session = session;
  current = { action: names.join(" "), targets };
}

/** Records a command of the owner before it runs, so that one that is killed is recorded too; and again if it fails. */
export async function auditCommand<T>({ audit }: Varve, work: () => Promise<T>): Promise<T> {
  if (!audit.enabled) return work();
  const isChange = commandRights[current.action.replace(/^varve /, "")]?.some((right) => right !== "read") ?? true;
  await audit.record({ principal: "owner", ...current, status: "started" }, { durable: isChange });
  try {
    return await work();
  } catch (error) {
    await audit.record({ principal: "owner", ...current, status: toVarveError(error).code });
    throw error;
  }
}
