/** Routes for the ids of the owner. An owner reads everything of the agent, so only unlimited tokens may. */
import { isListed, isProxyClient, parsePerson } from "../../authorization/index.ts";
import { foldCase, VarveError } from "../../domain/index.ts";
import type { Owner, Varve } from "../../index.ts";
import type { GatewayApp, GatewayContext } from "../context.ts";
import { addRoute, createRoute, failures, jsonBody, jsonContent, needs, reply } from "../routing.ts";
import { agentQuery, errorSchema, fields, text } from "../schemas.ts";
import { requireUnlimited } from "../speaker.ts";
import { peopleSchema } from "./owner-schemas.ts";

const tags = ["owners"];
const agent = text(128)
  .transform((name) => name.toLowerCase())
  .optional()
  .openapi({ description: "The agent; default: the one of the settings." });
const ownerFields = fields({
  channel: text(512).openapi({ example: "telegram", description: "`local` for a program without a channel." }),
  id: text(512).openapi({ example: "5054873275" }),
  agent,
});
const people = jsonContent(peopleSchema, "The owner's ids, and the people who are not known.");
const missing = { 404: jsonContent(errorSchema, "The id is not an owner's.") } as const;

const list = createRoute({
  method: "get",
  path: "/api/owners",
  tags,
  summary: "List the owner's ids, and people who wrote and are not known",
  ...needs("admin"),
  request: {
    query: fields({
      agent: agentQuery,
      session: text(512).optional().openapi({ description: "Also tell whose this session is." }),
    }),
  },
  responses: { 200: people, ...failures },
});

const add = createRoute({
  method: "post",
  path: "/api/owners",
  tags,
  summary: "Name an id of the owner; what was said under it stays in its own session",
  ...needs("admin"),
  request: { body: jsonBody(ownerFields) },
  responses: { 201: people, ...failures },
});

const remove = createRoute({
  method: "delete",
  path: "/api/owners",
  tags,
  summary: "Remove an id of the owner; one of the settings is changed there",
  ...needs("admin"),
  request: { query: ownerFields },
  responses: { 200: people, ...missing, ...failures },
});

const claim = createRoute({
  method: "post",
  path: "/api/owners/claim",
  tags,
  summary: "Make a session the owner's that was recorded without knowing whose it is",
  ...needs("admin"),
  request: {
    body: jsonBody(
      fields({
        session: text(512).openapi({ description: "The key or the session id.", example: "agent:main:main" }),
        agent,
      }),
    ),
  },
  responses: { 200: people, ...failures },
});

export const ownerRoutes = { list, add, remove, claim };

export function addOwnerRoutes(app: GatewayApp, { varve, bus }: GatewayContext): void {
  addRoute(app, list, async (c) => {
    requireUnlimited(c.get("principal"));
    const { session: name, agent: agentName } = c.req.valid("query");
    const session = name === undefined ? undefined : await varve.sessions.get(name, agentName);
    const known = await readPeople(varve, session?.agent ?? agentName);
    return reply(c, peopleSchema, { ...known, ...describePerson(varve, session?.audience, known.owners) });
  });
  addRoute(app, add, async (c) => {
    const principal = c.get("principal");
    requireUnlimited(principal);
    const owner = c.req.valid("json");
    c.set("auditTargets", owner);
    await varve.owners.add({ ...owner, by: principal.name });
    return reply(c, peopleSchema, await readPeople(varve, owner.agent), 201);
  });
  addRoute(app, remove, async (c) => {
    requireUnlimited(c.get("principal"));
    const owner = c.req.valid("query");
    const wasRemoved = await varve.owners.remove(owner);
    const left = await readPeople(varve, owner.agent);
    const channel = foldCase(owner.channel);
    if (left.owners.some((one) => one.channel === channel && one.id === owner.id)) throw configuredOwner(owner);
    if (!wasRemoved) throw unknownOwner(owner);
    return reply(c, peopleSchema, left);
  });
  addRoute(app, claim, async (c) => {
    requireUnlimited(c.get("principal"));
    const { session: name, agent: agentName } = c.req.valid("json");
    const session = await varve.sessions.get(name, agentName);
    c.set("auditTargets", { agent: session.agent, session: session.key });
    await varve.owners.claim(session.key, session.agent);
    const { agent, key, sessionId } = session;
    bus.publish({ type: "session.updated", agent, key, sessionId, data: { fields: ["audience"] } });
    return reply(c, peopleSchema, await readPeople(varve, agent));
  });
}

async function readPeople({ owners }: Varve, agentName: string | undefined) {
  return { owners: await owners.list(agentName), unknown: await owners.listUnknown(agentName) };
}

/** The person of an audience; after identity links it may be the owner under another id. */
function describePerson({ settings }: Varve, audience: string | undefined, owners: readonly Owner[]) {
  const person = audience === undefined || isProxyClient(audience) ? undefined : parsePerson(audience);
  if (audience === undefined || person === undefined) return {};
  const listed: Record<string, string[]> = {};
  for (const { channel, id } of owners) listed[channel] = [...(listed[channel] ?? []), id];
  const { channel, peer: id } = person;
  const isOwner = isListed(listed, settings.config.session.identityLinks, audience);
  return { person: { ...(channel === undefined ? {} : { channel }), id, isOwner } };
}

function configuredOwner({ channel, id }: { channel: string; id: string }): VarveError {
  return new VarveError("REFUSED", `${channel} ${id} is an owner by the setting turn.owners.`, {
    remedy: "Remove it from turn.owners in config.yaml.",
  });
}

function unknownOwner({ channel, id }: { channel: string; id: string }): VarveError {
  return new VarveError("NOT_FOUND", `${channel} ${id} is not an owner.`, {
    remedy: "GET /api/owners lists the owners.",
  });
}
