/** Routes for status, checks, backups and settings. */
import { z } from "@hono/zod-openapi";
import { hasRight, isUnlimited } from "../../authorization/index.ts";
import { listConfig } from "../../config/index.ts";
import type { Varve } from "../../index.ts";
import type { GatewayApp, GatewayContext } from "../context.ts";
import { addRoute, createRoute, failures, jsonContent, needs, reply } from "../routing.ts";
import { boundAgent, type TokenPrincipal } from "../tokens.ts";
import { peopleSchema } from "./owner-schemas.ts";

const tags = ["maintenance"];

const statusSchema = z
  .object({
    version: z.string(),
    engine: z.enum(["sqlite", "postgres"]),
    schemaVersion: z.number(),
    encryption: z
      .string()
      .nullable()
      .describe("The id of the key that texts are encrypted with; null when they are plain."),
    sessions: z.number(),
    conversations: z.number(),
    messages: z.number(),
    entries: z.number(),
    tokens: z.number(),
    databaseBytes: z.number(),
    jobs: z.record(z.string(), z.number()),
    quarantined: z.number(),
    importedFiles: z.number(),
    summaries: z.number(),
    summaryLevels: z.record(z.string(), z.number()),
    summaryFaults: z.array(z.object({ summary: z.string(), time: z.number(), faults: z.array(z.string()) })),
    files: z.number(),
    memories: z.number(),
    models: z.array(
      z.object({
        name: z.string(),
        calls: z.number(),
        failures: z.number(),
        inputTokens: z.number(),
        outputTokens: z.number(),
        authFailures: z.number(),
        windowStartedAt: z.number(),
        windowCalls: z.number(),
        paused: z.boolean(),
        pausedUntil: z.number(),
        pausedBecause: z.string().optional(),
        lastError: z.string().optional(),
        lastErrorAt: z.number().optional(),
        lastOkAt: z.number().optional(),
      }),
    ),
    spend: z.array(
      z.object({
        day: z.string(),
        purpose: z.string(),
        model: z.string(),
        calls: z.number(),
        inputTokens: z.number(),
        outputTokens: z.number(),
        cacheableTokens: z.number().describe("Input tokens of stable prefixes, which a provider's cache can hold."),
        cachedTokens: z.number().describe("Input tokens that the provider read from its cache."),
      }),
    ),
    inbox: z.record(z.string(), z.number()).describe("Accepted messages by state: waiting, running, done."),
    failedJobs: z.array(
      z.object({ kind: z.string(), key: z.string(), error: z.string(), attempts: z.number(), time: z.number() }),
    ),
    home: z.string(),
    database: z.string(),
    search: z.object({
      model: z.string().nullable(),
      messages: z.number(),
      vectors: z.number(),
      memories: z.number(),
      memoryVectors: z.number(),
      instantVectors: z.number().describe("Messages with an instant vector, which serves until the model is done."),
      pendingMessages: z.number().describe("Messages that wait for the model, counted up to 1,000."),
      serving: z.string().nullable().describe("The embedding model whose vectors searches use."),
      earlier: z.array(z.object({ model: z.string(), vectors: z.number() })),
      index: z.object({
        storage: z.enum(["memory", "pgvector"]),
        extension: z.string().optional(),
        isConverting: z.boolean(),
        advice: z.array(z.string()),
      }),
    }),
    people: peopleSchema.describe("The owner's ids for the agent of the settings, for unlimited tokens."),
    lastBackup: z.object({ file: z.string(), time: z.number(), bytes: z.number() }).nullable(),
    proxy: z.object({
      requests: z.number(),
      replaced: z.number(),
      compactions: z.number(),
      overflowsCured: z.number(),
      recalls: z.number(),
      failures: z.number(),
      notStored: z.number(),
    }),
  })
  .partial()
  .required({ version: true, engine: true, schemaVersion: true })
  .openapi("Status", {
    description:
      "The counts cover all agents, so a token that is bound to one agent does not get them; paths need the right admin.",
  });
const status = createRoute({
  method: "get",
  path: "/api/status",
  ...needs("read"),
  tags,
  summary: "Get storage status: counts, sizes, embedding coverage, jobs and models",
  responses: { 200: jsonContent(statusSchema, "The status."), ...failures },
});

export const doctorSchema = z.object({
  healthy: z.boolean(),
  findings: z.array(
    z.object({
      check: z.string(),
      faults: z.array(z.string()),
      notes: z.array(z.string()).optional().describe("What is no fault, but the owner may have to decide."),
      checked: z.number(),
      fixable: z.boolean(),
    }),
  ),
  done: z.array(z.string()),
});
const doctor = createRoute({
  method: "get",
  path: "/api/doctor",
  tags,
  summary: "Check the database for faults; changes nothing",
  ...needs("admin"),
  responses: { 200: jsonContent(doctorSchema, "The result of each check."), ...failures },
});

const backupSchema = z.object({ file: z.string(), bytes: z.number() });
const backup = createRoute({
  method: "post",
  path: "/api/backup",
  tags,
  summary: "Back up the database to the backups folder while it is in use",
  ...needs("admin"),
  responses: { 201: jsonContent(backupSchema, "The backup."), ...failures },
});

const configSchema = z.object({
  settings: z.array(
    z.object({
      key: z.string(),
      variable: z.string(),
      value: z.unknown(),
      source: z.string(),
      default: z.unknown(),
      description: z.string(),
      secret: z.boolean(),
    }),
  ),
});
const config = createRoute({
  method: "get",
  path: "/api/config",
  tags,
  summary: "List every setting with its value and its source; secrets are masked",
  ...needs("admin"),
  responses: { 200: jsonContent(configSchema, "The settings."), ...failures },
});

export const maintenanceRoutes = { status, doctor, backup, config };

export function addMaintenanceRoutes(app: GatewayApp, gateway: GatewayContext): void {
  const { varve } = gateway;
  addRoute(app, status, async (c) => {
    const state = statusFor(c.get("principal"), await varve.status());
    const isAll = gateway.proxyCounters !== undefined && boundAgent(c.get("principal")) === undefined;
    return reply(c, statusSchema, { ...state, ...(isAll ? { proxy: gateway.proxyCounters } : {}) });
  });
  addRoute(app, doctor, async (c) => reply(c, doctorSchema, await varve.doctor()));
  addRoute(app, backup, async (c) => reply(c, backupSchema, await varve.backup(), 201));
  addRoute(app, config, (c) => reply(c, configSchema, { settings: listConfig(varve.settings) }));
}

function statusFor(principal: TokenPrincipal, all: Awaited<ReturnType<Varve["status"]>>): z.input<typeof statusSchema> {
  const { version, engine, schemaVersion } = all;
  if (boundAgent(principal) !== undefined) return { version, engine, schemaVersion };
  if (isUnlimited(principal)) return all;
  const { people: _people, ...known } = all;
  if (hasRight(principal, "admin")) return known;
  // Session keys and error messages may belong to other users, so they need the right admin too.
  const { home: _home, database: _database, lastBackup: _lastBackup, ...rest } = known;
  const { failedJobs: _jobs, summaryFaults: _faults, ...numbers } = rest;
  return numbers;
}
