/** Routes to find and open what is no longer in the context: grep, summaries, large files, questions. */
import { z } from "@hono/zod-openapi";
import { VarveError } from "../../domain/index.ts";
import type { SearchScope, Varve } from "../../index.ts";
import type { GatewayApp, GatewayContext } from "../context.ts";
import { addRoute, createRoute, failures, jsonBody, jsonContent, needs, reply } from "../routing.ts";
import { agentQuery, errorSchema, fields, text, timeQuery } from "../schemas.ts";
import { requireSession, resolveAgent } from "../session-access.ts";
import { readSessionTitles } from "../session-titles.ts";
import type { TokenPrincipal } from "../tokens.ts";
import { summarySchema } from "./context.ts";

const tags = ["recall"];
const whole = z.coerce.number().int().min(1);
const flag = z.enum(["0", "1"]).optional();
const idParam = z.object({ id: text(64).openapi({ example: "sum_0123456789abcdef" }) });
const grepSchema = z.object({
  matches: z.array(
    z.object({
      kind: z.enum(["message", "summary", "file"]),
      citation: z.string(),
      conversation: z.number(),
      sessionKey: z.string().nullable(),
      sessionTitle: z.string().optional().describe("The name of the session, where it has one."),
      time: z.number(),
      role: z.string().optional(),
      snippet: z.string(),
      score: z.number(),
    }),
  ),
  searched: z.object({ messages: z.number(), summaries: z.number(), files: z.number() }),
  cut: z.string().optional().describe("What was omitted and why; absent when nothing was."),
});
const grep = createRoute({
  method: "get",
  path: "/api/grep",
  ...needs("read"),
  tags,
  summary: "Find every message, summary or large file that matches a pattern",
  request: {
    query: fields({
      agent: agentQuery,
      pattern: text(1_000).openapi({ example: "flight.*Friday" }),
      mode: z.enum(["regex", "full_text"]).optional(),
      scope: z.enum(["messages", "summaries", "files", "both"]).optional(),
      session: text(512).optional().describe("Only this session; default: all sessions of the agent."),
      since: timeQuery,
      before: timeQuery,
      limit: whole.max(200).optional(),
      sort: z.enum(["recency", "relevance", "hybrid"]).optional(),
    }),
  },
  responses: { 200: jsonContent(grepSchema, "The matches."), ...failures },
});

const describedSchema = z.object({
  summary: summarySchema,
  sources: z.array(z.string()),
  parents: z.array(z.string()),
});
const summary = createRoute({
  method: "get",
  path: "/api/summaries/{id}",
  ...needs("read"),
  tags,
  summary: "Get a summary with its sources and parents",
  request: { params: idParam, query: fields({ agent: agentQuery }) },
  responses: { 200: jsonContent(describedSchema, "The summary."), ...failures },
});

const expansionSchema = z.object({ nodes: z.array(z.unknown()), tokens: z.number(), cut: z.string().optional() });
const expand = createRoute({
  method: "get",
  path: "/api/summaries/{id}/expanded",
  ...needs("read"),
  tags,
  summary: "Expand a summary into its sources",
  request: {
    params: idParam,
    query: fields({
      agent: agentQuery,
      depth: z.coerce.number().int().min(0).max(50).optional(),
      tokens: whole.max(10_000_000).optional(),
      messages: flag.describe("1 to include the original messages."),
    }),
  },
  responses: { 200: jsonContent(expansionSchema, "The nodes, and what was omitted."), ...failures },
});

const fileSchema = z.object({
  file: z.object({
    id: z.string(),
    name: z.string().nullable(),
    mediaType: z.string().nullable(),
    kind: z.string(),
    summary: z.string(),
    bytes: z.number(),
    lines: z.number(),
    tokens: z.number(),
    byModel: z.object({ text: z.string(), model: z.string().nullable() }).optional(),
  }),
  entries: z.array(z.string()).describe("Citations of the messages that contain it."),
  lines: z
    .object({
      startLine: z.number(),
      endLine: z.number(),
      totalLines: z.number(),
      text: z.string(),
      cut: z.string().optional(),
    })
    .optional(),
});
const file = createRoute({
  method: "get",
  path: "/api/files/{id}",
  ...needs("read"),
  tags,
  summary: "Get a large file's description and lines",
  request: {
    params: idParam,
    query: fields({
      agent: agentQuery,
      from: whole.optional().describe("The first line."),
      to: whole.optional().describe("The last line."),
      tokens: whole.max(10_000_000).optional().describe("The maximum number of tokens to return."),
    }),
  },
  responses: { 200: jsonContent(fileSchema, "The file."), ...failures },
});

const placeSchema = z.object({
  kind: z.enum(["message", "summary", "file", "memory"]),
  id: z.string(),
  sessionKey: z.string().nullable().describe("The session; null for a memory, and for an archived conversation."),
  sessionTitle: z.string().optional(),
  seq: z.number().optional().describe("Of a message: its sequence number; of a file: that of a message that has it."),
});
const citation = createRoute({
  method: "get",
  path: "/api/citations/{id}",
  ...needs("read"),
  tags,
  summary: "Get where a citation leads: msg#N, sum_…, file_… or mem_… (with # encoded as %23)",
  request: { params: z.object({ id: text(64).openapi({ example: "msg#1" }) }), query: fields({ agent: agentQuery }) },
  responses: {
    200: jsonContent(placeSchema, "The place."),
    404: jsonContent(errorSchema, "The citation leads nowhere that this token may see."),
    ...failures,
  },
});

const answerSchema = z.object({
  answer: z.string(),
  citations: z.array(z.string()),
  model: z.string().optional(),
  tokensRead: z.number(),
  notes: z.array(z.string()),
});
const ask = createRoute({
  method: "post",
  path: "/api/ask",
  ...needs("read"),
  tags,
  summary: "Answer a question from the history, with citations; without a model, return the passages found",
  request: {
    query: fields({ agent: agentQuery }),
    body: jsonBody(
      fields({
        prompt: text(20_000),
        query: text(2_000).optional(),
        summaryIds: z.array(text(64)).max(50).optional(),
        session: text(512).optional(),
        maxTokens: z.number().int().min(50).max(20_000).optional(),
        tokenCap: z.number().int().min(100).max(200_000).optional(),
      }),
    ),
  },
  responses: { 200: jsonContent(answerSchema, "The answer."), ...failures },
});

export const recallRoutes = { citation, grep, summary, expand, file, ask };

export function addRecallRoutes(app: GatewayApp, { varve }: GatewayContext): void {
  addRoute(app, grep, async (c) => {
    const { agent, session, ...request } = c.req.valid("query");
    const scope = await resolveScope(varve, c.get("principal"), agent, session);
    const found = await varve.context.grep({ ...request, ...scope, signal: c.req.raw.signal });
    const conversations = found.matches.map(({ conversation }) => conversation);
    const titles = await readSessionTitles(varve, scope.session?.agent ?? scope.agent, conversations);
    const matches = found.matches.map((match) => {
      const title = titles.get(match.conversation);
      return { ...match, sessionKey: title?.key ?? null, sessionTitle: title?.title };
    });
    return reply(c, grepSchema, { ...found, matches });
  });
  addRoute(app, summary, async (c) => {
    const scope = await resolveScope(varve, c.get("principal"), c.req.valid("query").agent);
    const found = await varve.context.describe(requireId(c.req.valid("param").id, /^sum_/), scope);
    if (found.kind !== "summary") throw createNotFoundError(c.req.valid("param").id);
    return reply(c, describedSchema, found);
  });
  addRoute(app, expand, async (c) => {
    const { agent, depth, tokens, messages } = c.req.valid("query");
    const scope = await resolveScope(varve, c.get("principal"), agent);
    const request = { maxDepth: depth, tokenCap: tokens, includeMessages: messages === "1" };
    const summaryIds = [requireId(c.req.valid("param").id, /^sum_/)];
    return reply(c, expansionSchema, await varve.context.expand({ ...request, ...scope, summaryIds }));
  });
  addRoute(app, file, async (c) => {
    const { agent, from, to, tokens } = c.req.valid("query");
    const scope = await resolveScope(varve, c.get("principal"), agent);
    const id = requireId(c.req.valid("param").id, /^file_/);
    const found = await varve.context.describe(id, { ...scope, startLine: from, endLine: to, tokenCap: tokens });
    if (found.kind !== "file") throw createNotFoundError(id);
    return reply(c, fileSchema, found);
  });
  addRoute(app, citation, async (c) => {
    const { id } = c.req.valid("param");
    const scope = await resolveScope(varve, c.get("principal"), c.req.valid("query").agent);
    const found = await varve.context.describe(id, scope);
    const conversations = found.conversation === undefined ? [] : [found.conversation];
    const title = (await readSessionTitles(varve, scope.agent, conversations)).get(found.conversation ?? -1);
    const seq = found.kind === "message" ? found.entry.seq : found.kind === "file" ? findSeq(found.entries) : undefined;
    const place = { kind: found.kind, id, sessionKey: title?.key ?? null, sessionTitle: title?.title };
    return reply(c, placeSchema, { ...place, ...(seq === undefined ? {} : { seq }) });
  });
  addRoute(app, ask, async (c) => {
    const { session, ...request } = c.req.valid("json");
    const scope = await resolveScope(varve, c.get("principal"), c.req.valid("query").agent, session);
    return reply(c, answerSchema, await varve.context.expandQuery({ ...request, ...scope, signal: c.req.raw.signal }));
  });
}

/** Returns the session that a request names, read as its person, or all sessions of its agent. */
async function resolveScope(
  varve: Varve,
  principal: TokenPrincipal,
  agent?: string,
  session?: string,
): Promise<SearchScope> {
  if (session !== undefined) {
    const named = await requireSession(varve, principal, session, agent);
    return { principal: await varve.sessions.resolvePrincipal(named, principal), session: named };
  }
  return { principal, agent: resolveAgent(principal, agent) };
}

function findSeq(citations: readonly string[]): number | undefined {
  const seq = /^msg#(\d+)$/.exec(citations[0] ?? "")?.[1];
  return seq === undefined ? undefined : Number(seq);
}

function requireId(id: string, form: RegExp): string {
  if (form.test(id)) return id;
  throw createNotFoundError(id);
}

function createNotFoundError(id: string): VarveError {
  return new VarveError("NOT_FOUND", `There is no summary or file ${JSON.stringify(id)}.`, {
    remedy: "Use the id of a summary (sum_…) or of a large file (file_…); GET /api/grep finds both.",
  });
}
