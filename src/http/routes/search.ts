import { z } from "@hono/zod-openapi";
import { type Principal, profiles, resultKinds, type Varve } from "../../index.ts";
import type { GatewayApp, GatewayContext } from "../context.ts";
import { addRoute, createRoute, failures, jsonBody, jsonContent, needs, reply } from "../routing.ts";
import { agentQuery, fields, text, timeQuery } from "../schemas.ts";
import { requireSession, resolveAgent } from "../session-access.ts";
import { readSessionTitles } from "../session-titles.ts";
import type { TokenPrincipal } from "../tokens.ts";

const answerSchema = z.object({
  query: z.string(),
  mode: z.enum(["hybrid", "lexical", "vector"]),
  confidence: z.enum(["strong", "weak", "none"]),
  certainty: z.number(),
  results: z.array(
    z.object({
      kind: z.enum(resultKinds),
      id: z.string(),
      citation: z.string(),
      score: z.number(),
      snippet: z.string(),
      time: z.number(),
      sessionKey: z.string().nullable(),
      sessionTitle: z.string().optional().describe("The name of the session, where it has one."),
      role: z.string().optional().describe("Of a message: who said it."),
      name: z.string().optional().describe("The name of the speaker, in conversations of several people."),
      sources: z.array(z.string()),
      tier: z
        .enum(["model", "instant"])
        .optional()
        .describe("The vectors it was compared by: of the embedding model, or instant ones."),
      stages: z.record(z.string(), z.number()).optional(),
    }),
  ),
  tiers: z.array(z.enum(["model", "instant"])).describe("The tiers of vectors among the results."),
  cut: z.array(z.string()).describe("What was omitted and why."),
  degraded: z.array(z.string()).describe("Parts of the search that failed or were skipped."),
});

const search = createRoute({
  method: "get",
  path: "/api/search",
  ...needs("read"),
  tags: ["recall"],
  summary: "Search messages, summaries, memories and files by keywords and meaning, best first",
  request: {
    query: fields({
      agent: agentQuery,
      q: text(2_000).openapi({ example: "flight on Friday" }).describe("Words or a question."),
      kind: text(100)
        .refine((value) => value.split(",").every((one) => (resultKinds as readonly string[]).includes(one)), {
          error: `must be one or more of ${resultKinds.join(", ")}, comma-separated`,
        })
        .optional(),
      session: text(512).optional().describe("Only this session."),
      scope: text(512).optional().describe("Only memories of these scopes, comma-separated."),
      since: timeQuery,
      before: timeQuery,
      asOf: timeQuery.openapi({
        description: "What was known at this time: messages until then, memories as believed then.",
      }),
      mode: z
        .enum(["words", "meaning", "both"])
        .optional()
        .describe("How to find candidates: by words, by meaning, or by both (default)."),
      role: z.enum(["user", "assistant", "tool", "system"]).optional().describe("Only messages of this role."),
      person: text(200).optional().describe("Only messages of the speaker with this name."),
      typing: z
        .enum(["0", "1"])
        .optional()
        .describe("1 while the query is being typed: its last word may be incomplete."),
      limit: z.coerce.number().int().min(1).max(200).optional(),
      explain: z.enum(["0", "1"]).optional(),
    }),
  },
  responses: { 200: jsonContent(answerSchema, "The results."), ...failures },
});

const questionSchema = fields({
  query: text(2_000).openapi({ example: "flight on Friday" }).describe("Words or a question."),
  retrievers: z
    .array(z.enum(["lexical", "vector"]))
    .min(1)
    .max(2)
    .optional(),
  tier: z.enum(["instant", "model"]).optional().describe("Only vectors of this tier; instant loads no model."),
  session: text(512).optional().describe("Only this session."),
  kinds: z.array(z.enum(resultKinds)).max(10).optional(),
  scopes: z.array(text(512)).max(100).optional().describe("Only memories of these scopes."),
  since: z.number().optional(),
  before: z.number().optional(),
  limit: z.number().int().min(1).max(1_000).optional(),
  minScore: z.number().optional(),
  profile: z.enum(profiles).optional(),
  explain: z.boolean().optional(),
});

const wholeAnswerSchema = z
  .record(z.string(), z.unknown())
  .describe("The answer of `search.find`, as `varve search --json` prints it.");

/** The route that `varve search` calls. */
const answer = createRoute({
  method: "post",
  path: "/api/search/answer",
  ...needs("read"),
  tags: ["recall"],
  summary: "Search with all options of `varve search`, and get the whole texts of the results",
  request: { query: fields({ agent: agentQuery }), body: jsonBody(questionSchema) },
  responses: { 200: jsonContent(wholeAnswerSchema, "The answer."), ...failures },
});

export const searchRoutes = { search };

const retrievers = { words: ["lexical"], meaning: ["vector"], both: undefined } as const;
/** Who speaks is not part of the index: so many of the best results are looked at. */
const filteredMax = 200;
const limitDefault = 10;

export function addSearchRoute(app: GatewayApp, gateway: GatewayContext): void {
  addAnswerRoute(app, gateway);
  const { varve } = gateway;
  addRoute(app, search, async (c) => {
    const {
      agent: agentName,
      q,
      kind,
      session: sessionName,
      explain,
      scope,
      mode,
      typing,
      asOf,
      ...rest
    } = c.req.valid("query");
    const { role, person, limit = limitDefault, ...times } = rest;
    const { principal, session, agent } = await resolveReader(varve, c.get("principal"), sessionName, agentName);
    const isFiltered = role !== undefined || person !== undefined;
    const kinds = kind?.split(",") as (typeof resultKinds)[number][] | undefined;
    const answer = await varve.search.find(q, {
      ...times,
      ...(asOf === undefined ? {} : { before: Math.min(asOf, times.before ?? asOf) }),
      limit: isFiltered ? filteredMax : limit,
      ...(session ? { session } : { agent }),
      ...(scope === undefined ? {} : { scopes: scope.split(",") }),
      ...(mode === undefined || retrievers[mode] === undefined ? {} : { retrievers: [...retrievers[mode]] }),
      principal,
      kinds: isFiltered ? ["message"] : kinds,
      explain: explain === "1",
      interactive: typing === "1",
      mayLag: true,
      signal: c.req.raw.signal,
    });
    const found =
      asOf === undefined || (kinds !== undefined && !kinds.includes("memory"))
        ? answer.results
        : await replaceMemories(varve, answer.results, { query: q, asOf, limit, principal, agent, scope });
    const described = await describeResults(varve, agent ?? varve.settings.config.agent, found);
    const results = described.filter(
      (one) => (role === undefined || one.role === role) && (person === undefined || one.name === person),
    );
    return reply(c, answerSchema, {
      ...answer,
      results: results.slice(0, limit),
      cut: isFiltered
        ? [...answer.cut, `The role and the person were looked for among the ${described.length} best messages.`]
        : answer.cut,
    });
  });
}

function addAnswerRoute(app: GatewayApp, { varve }: GatewayContext): void {
  addRoute(app, answer, async (c) => {
    const { query, session: key, ...options } = c.req.valid("json");
    const { agent: agentName } = c.req.valid("query");
    const { principal, session, agent } = await resolveReader(varve, c.get("principal"), key, agentName);
    const found = await varve.search.find(query, {
      ...options,
      ...(session ? { session } : { agent }),
      principal,
      signal: c.req.raw.signal,
    });
    return reply(c, wholeAnswerSchema, { ...found });
  });
}

/** Who reads: in a session its person, who may see less than the holder of the token. */
async function resolveReader(
  varve: Varve,
  principal: TokenPrincipal,
  sessionName: string | undefined,
  agentName: string | undefined,
) {
  if (sessionName === undefined) return { principal, agent: resolveAgent(principal, agentName) };
  const session = await requireSession(varve, principal, sessionName, agentName);
  return { principal: await varve.sessions.resolvePrincipal(session, principal), session, agent: session.agent };
}

type Found = Awaited<ReturnType<Varve["search"]["find"]>>["results"][number];
type Result = z.input<typeof answerSchema>["results"][number];

/** The memories as they were believed at a time, in place of those of today. */
async function replaceMemories(
  varve: Varve,
  results: readonly Found[],
  request: { query: string; asOf: number; limit: number; principal: Principal; agent?: string; scope?: string },
): Promise<Result[]> {
  const { scope, ...asked } = request;
  const { hits } = await varve.memory.recall({
    ...asked,
    ...(scope === undefined ? {} : { scopes: scope.split(",") }),
  });
  const memories = hits.map(
    ({ memory, score, stages }): Result => ({
      kind: "memory",
      id: memory.id,
      citation: memory.id,
      score,
      snippet: memory.content,
      time: memory.validFrom,
      sessionKey: null,
      sources: ["lexical"],
      stages,
    }),
  );
  const others = results.filter(({ kind }) => kind !== "memory");
  return [...others, ...memories].sort((a, b) => b.score - a.score);
}

/** Adds who said a message, and the name of its session. */
async function describeResults(varve: Varve, agent: string, results: readonly (Found | Result)[]): Promise<Result[]> {
  const seqs = results.flatMap((one) => ("seq" in one && typeof one.seq === "number" ? [one.seq] : []));
  const conversations = results.flatMap((one) =>
    "conversation" in one && typeof one.conversation === "number" ? [one.conversation] : [],
  );
  const speakers = await varve.transcripts.speakers(agent, seqs);
  const titles = await readSessionTitles(varve, agent, conversations);
  return results.map((one) => {
    const { kind, id, citation, score, snippet, time, sessionKey, sources, stages } = one;
    const speaker = "seq" in one && typeof one.seq === "number" ? speakers.get(one.seq) : undefined;
    const sessionTitle = "conversation" in one ? titles.get(one.conversation ?? -1)?.title : undefined;
    return { kind, id, citation, score, snippet, time, sessionKey, sessionTitle, ...speaker, sources, stages };
  });
}
