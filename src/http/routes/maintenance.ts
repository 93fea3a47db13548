/** The state of the whole, and what administrators do about it. */
import { z } from "@hono/zod-openapi";
import { hasRight } from "../../authorization/index.ts";
import { listConfig } from "../../config/index.ts";
import type { Varve } from "../../engine.ts";
import type { GatewayApp, GatewayHost } from "../context.ts";
import { addRoute, adminOnly, createRoute, failures, jsonContent, reply } from "../routing.ts";
import { boundAgent, type TokenPrincipal } from "../tokens.ts";

const tags = ["care"];

const statusSchema = z
  .object({
    version: z.string(),
    engine: z.enum(["sqlite", "postgres"]),
    schemaVersion: z.number(),
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
      }),
    ),
    inbox: z.record(z.string(), z.number()).describe("Messages that were accepted: waiting, running, done."),
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
      serving: z.string().nullable().describe("The space whose vectors a search compares."),
      earlier: z.array(z.object({ model: z.string(), vectors: z.number() })),
    }),
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
      "The numbers are of all agents, so a token that is bound to one does not get them; paths are for administrators.",
  });
const status = createRoute({
  method: "get",
  path: "/api/status",
  tags,
  summary: "What there is, in numbers",
  responses: { 200: jsonContent(statusSchema, "The state."), ...failures },
});

const doctorSchema = z.object({
  healthy: z.boolean(),
  findings: z.array(
    z.object({ check: z.string(), faults: z.array(z.string()), checked: z.number(), fixable: z.boolean() }),
  ),
  done: z.array(z.string()),
});
const doctor = createRoute({
  method: "get",
  path: "/api/doctor",
  tags,
  summary: "Look for everything that can be wrong; changes nothing",
  ...adminOnly,
  responses: { 200: jsonContent(doctorSchema, "What was found."), ...failures },
});

const backupSchema = z.object({ file: z.string(), bytes: z.number() });
const backup = createRoute({
  method: "post",
  path: "/api/backup",
  tags,
  summary: "Take a backup into the home's folder of backups, while everything goes on",
  ...adminOnly,
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
  summary: "Every setting with its value and where it came from; secrets are masked",
  ...adminOnly,
  responses: { 200: jsonContent(configSchema, "The settings."), ...failures },
});

export function addMaintenanceRoutes(app: GatewayApp, host: GatewayHost): void {
  const { varve } = host;
  addRoute(app, status, async (c) => {
    const state = statusFor(c.get("principal"), await varve.status());
    const isAll = host.proxyCounters !== undefined && boundAgent(c.get("principal")) === undefined;
    return reply(c, statusSchema, { ...state, ...(isAll ? { proxy: host.proxyCounters } : {}) });
  });
  addRoute(app, doctor, async (c) => reply(c, doctorSchema, await varve.doctor()));
  addRoute(app, backup, async (c) => reply(c, backupSchema, await varve.backup(), 201));
  addRoute(app, config, (c) => reply(c, configSchema, { settings: listConfig(varve.settings) }));
}

function statusFor(principal: TokenPrincipal, all: Awaited<ReturnType<Varve["status"]>>): z.input<typeof statusSchema> {
  const { version, engine, schemaVersion } = all;
  if (boundAgent(principal) !== undefined) return { version, engine, schemaVersion };
  if (hasRight(principal, "admin")) return all;
  // Keys of sessions and words of errors may be another's; whoever may read everything is an administrator.
  const { home: _home, database: _database, lastBackup: _lastBackup, ...rest } = all;
  const { failedJobs: _jobs, summaryFaults: _faults, ...numbers } = rest;
  return numbers;
}
