import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { type ParseError, parse } from "jsonc-parser";
import { isJsonObject, type JsonObject, VarveError } from "../../../domain/index.ts";
import { type LegacySession, legacyStoreName, parseLegacyStore } from "../legacy.ts";
import { readObject, readText } from "../record.ts";
import { ArchiveSource, FileSource, type TranscriptSource } from "../transcript-source.ts";
import { AgentStore, agentStoreName } from "./agent-store.ts";
import { type HomeOwner, readHomeOwners } from "./home-owners.ts";

/** The state folder of OpenClaw, or one of its agents. */
export interface OpenclawHome {
  folder: string;
  agents: { id: string; folder: string }[];
}

/** The content of a home. Call `close` when the transcripts have been read. */
export interface HomeContent {
  sources: TranscriptSource[];
  notes: NotesFile[];
  /** Databases of plugins: lossless-claw's `lcm.db`, and folders of LanceDB. */
  lcmFiles: string[];
  lanceFolders: string[];
  owners: (HomeOwner & { agent: string })[];
  close(): void;
}

/** A file of notes in an agent's workspace. */
export interface NotesFile {
  agent: string;
  path: string;
  /** Relative to the workspace: `MEMORY.md`, `memory/2026-01-15.md`. */
  relativePath: string;
}

const archiveName = /\.jsonl\.(reset|deleted)\.([^/\\]+?)(\.zst)?$/;
const notesMax = 20_000;

/** The home at a path; undefined when it is something else. */
export function findOpenclawHome(path: string): OpenclawHome | undefined {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return undefined;
  const agentsFolder = join(path, "agents");
  const agents = isFolder(agentsFolder)
    ? readdirSync(agentsFolder)
        .sort()
        .map((id) => ({ id, folder: join(agentsFolder, id) }))
    : basename(dirname(path)) === "agents"
      ? [{ id: basename(path), folder: path }]
      : [];
  const known = agents.filter(({ folder }) => isAgentFolder(folder));
  if (known.length === 0) return undefined;
  return { folder: basename(dirname(path)) === "agents" ? dirname(dirname(path)) : path, agents: known };
}

function isAgentFolder(folder: string): boolean {
  if (existsSync(join(folder, "agent", agentStoreName))) return true;
  const sessions = join(folder, "sessions");
  if (!isFolder(sessions)) return false;
  return (
    existsSync(join(sessions, legacyStoreName)) || readdirSync(sessions).some((name) => /\.jsonl(\.|$)/.test(name))
  );
}

/** Lists what a home contains. `agent` limits it to one agent. */
export function readOpenclawHome(home: OpenclawHome, agent?: string): HomeContent {
  const agents = home.agents.filter(({ id }) => agent === undefined || id.toLowerCase() === agent.toLowerCase());
  if (agents.length === 0) {
    throw new VarveError("NOT_FOUND", `${home.folder} has no agent ${agent}.`, {
      remedy: `Leave out --agent, or name one of ${home.agents.map(({ id }) => id).join(", ")}.`,
    });
  }
  const stores: AgentStore[] = [];
  const sources = agents.flatMap(({ id, folder }) => {
    const file = join(folder, "agent", agentStoreName);
    const store = existsSync(file) ? new AgentStore(file, id) : undefined;
    if (store) stores.push(store);
    const published = new Set(store?.listArchiveNames());
    return [...(store?.listSources() ?? []), ...listFileSources(id, join(folder, "sessions"), published)];
  });
  const settings = readSettings(home.folder);
  return {
    sources,
    notes: agents.flatMap(({ id }) => listNotes(id, findWorkspace(home.folder, settings, id))),
    lcmFiles: [join(home.folder, "lcm.db")].filter((file) => existsSync(file)),
    lanceFolders: [join(home.folder, "memory", "lancedb-pro")].filter(isFolder),
    owners: agents.flatMap(({ id }) => readHomeOwners(settings).map((one) => ({ ...one, agent: id.toLowerCase() }))),
    close: () => {
      for (const store of stores) store.close();
    },
  };
}

/** The older layout: `sessions.json`, a file for each session id, and archives of those that were reset or deleted. */
function listFileSources(agent: string, folder: string, published: ReadonlySet<string>): TranscriptSource[] {
  if (!isFolder(folder)) return [];
  const storeFile = join(folder, legacyStoreName);
  const sessions = existsSync(storeFile) ? parseLegacyStore(storeFile, agent) : new Map<string, LegacySession>();
  const names = readdirSync(folder).sort();
  const live = names.filter((name) => name.endsWith(".jsonl") && !name.endsWith(".trajectory.jsonl"));
  const isCurrent = (name: string) => [...sessions.values()].some((one) => belongsTo(name, one));
  const current = live.filter(isCurrent);
  const others = live.filter((name) => !isCurrent(name));
  const facts = { agent: agent.toLowerCase(), sessions };
  return [
    ...[...current, ...others].map((name) => new FileSource(join(folder, name), "lines", facts)),
    ...names
      .filter((name) => archiveName.test(name) && !published.has(name))
      .map((name) => createArchiveSource(folder, name, agent)),
  ];
}

/** The agent of a single session file, and what the store next to it says; nothing for a file that is elsewhere. */
export function describeSessionFile(file: string): Pick<TranscriptSource, "agent" | "sessions"> {
  const folder = dirname(file);
  const agentFolder = dirname(folder);
  if (basename(folder) !== "sessions" || basename(dirname(agentFolder)) !== "agents") return {};
  const agent = basename(agentFolder).toLowerCase();
  const store = join(folder, legacyStoreName);
  return { agent, ...(existsSync(store) ? { sessions: parseLegacyStore(store, agent) } : {}) };
}

/** A topic's transcript has its own file name, which the store of sessions names. */
function belongsTo(name: string, { sessionId, fields }: LegacySession): boolean {
  const file = typeof fields.sessionFile === "string" ? basename(fields.sessionFile) : undefined;
  return name === file || name === `${sessionId}.jsonl` || name.startsWith(`${sessionId}-topic-`);
}

function createArchiveSource(folder: string, name: string, agent: string): TranscriptSource {
  const path = join(folder, name);
  const [, reason = "reset", stamp = "", compressed] = archiveName.exec(name) ?? [];
  const sessionId = name.replace(archiveName, "");
  const at = parseStamp(stamp) ?? statSync(path).mtimeMs;
  const session: LegacySession = {
    sessionId,
    // The store of sessions no longer says which key it had.
    key: `agent:${agent.toLowerCase()}:openclaw:direct:${sessionId.toLowerCase()}`,
    agent: agent.toLowerCase(),
    fields: {},
    archived: { reason, at: Math.trunc(at) },
  };
  const facts = { agent: session.agent, sessions: new Map([[sessionId, session]]) };
  return new ArchiveSource(path, { file: path }, compressed !== undefined, facts);
}

/** `2026-11-17T09-10-08.880Z`, with or without the name of a generation after it. */
function parseStamp(stamp: string): number | undefined {
  const [, date, hour, minute, rest] = /^(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-([\d.]+)Z/.exec(stamp) ?? [];
  const time = Date.parse(`${date}T${hour}:${minute}:${rest}Z`);
  return Number.isNaN(time) ? undefined : time;
}

function readSettings(folder: string): JsonObject {
  const file = join(folder, "openclaw.json");
  if (!existsSync(file)) return {};
  const errors: ParseError[] = [];
  // OpenClaw accepts comments and trailing commas.
  const value: unknown = parse(readFileSync(file, "utf8"), errors, { allowTrailingComma: true });
  if (errors.length === 0 && isJsonObject(value)) return value;
  throw new VarveError("BAD_FILE", `${file} cannot be read, so the agents' workspaces are unknown.`, {
    remedy: "Repair the file; `openclaw config validate` says what is wrong with it.",
  });
}

function findWorkspace(folder: string, settings: JsonObject, agent: string): string {
  const agents = readObject(settings, "agents") ?? {};
  const list = Array.isArray(agents.list) ? agents.list.filter(isJsonObject) : [];
  const own = list.find((one) => readText(one, "id")?.toLowerCase() === agent.toLowerCase());
  const isDefault = own?.default === true || (!list.some((one) => one.default === true) && agent === "main");
  const shared = readText(readObject(agents, "defaults") ?? {}, "workspace");
  const named = (own && readText(own, "workspace")) ?? (isDefault ? shared : undefined);
  if (named !== undefined) return resolve(folder, named.replace(/^~(?=\/|$)/, homedir()));
  return isDefault ? join(folder, "workspace") : join(shared ?? folder, shared ? agent : `workspace-${agent}`);
}

function listNotes(agent: string, workspace: string): NotesFile[] {
  const found: NotesFile[] = [];
  const add = (relativePath: string) => {
    if (found.length >= notesMax) throw tooManyNotes(workspace);
    found.push({ agent: agent.toLowerCase(), path: join(workspace, relativePath), relativePath });
  };
  for (const name of ["MEMORY.md", "memory.md"]) {
    if (isFile(join(workspace, name)) && found.length === 0) add(name);
  }
  const folder = join(workspace, "memory");
  if (!isFolder(folder)) return found;
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !entry.name.endsWith(".md")) continue;
    const below = entry.parentPath.slice(folder.length).split(/[\\/]/).filter(Boolean);
    add(["memory", ...below, entry.name].join("/"));
  }
  return found.sort((a, b) => (a.relativePath < b.relativePath ? -1 : 1));
}

function tooManyNotes(workspace: string): VarveError {
  return new VarveError("TOO_LARGE", `${workspace} has more than ${notesMax} files of notes.`, {
    remedy: "Check that this is the workspace; set search.workspace to search it where it is.",
  });
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}
