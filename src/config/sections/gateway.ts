import { z } from "zod";
import { findNameFault } from "../../authorization/index.ts";
import { maskTokens, secrets } from "../secrets.ts";

const token = z.strictObject({
  name: z
    .string()
    .min(1)
    .max(100)
    .refine((name) => findNameFault(name) === undefined, {
      error: ({ input }) => findNameFault(String(input)) ?? "is reserved",
    }),
  token: z
    .string()
    .regex(
      /^(sha256:[0-9a-f]{64}|env:[A-Za-z_][A-Za-z0-9_]*)$/,
      "must be sha256: and the token's SHA-256 in hex (printf %s TOKEN | sha256sum), or env: and the variable that holds the token",
    ),
  agent: z.string().min(1).optional(),
  scopes: z.array(z.string().min(1)).optional(),
  rights: z.array(z.enum(["read", "write", "admin"])).min(1),
  expiresAt: z
    .string()
    .refine(
      (text) => /^\d{4}-\d\d-\d\d/.test(text) && !Number.isNaN(Date.parse(text)),
      "must be a date, such as 2027-01-31",
    )
    .optional(),
});

export const gatewaySection = z.strictObject({
  host: z
    .string()
    .min(1)
    .default("127.0.0.1")
    .describe("The address the gateway listens on. Any address other than loopback requires tokens."),
  port: z.int().min(0).max(65_535).default(7411).describe("The port the gateway listens on; 0 chooses a free one."),
  tokens: z
    .array(token)
    .refine((all) => new Set(all.map(({ name }) => name)).size === all.length, {
      error: "must not have two tokens with the same name",
    })
    .default([])
    .describe("Access tokens, each with name, token, rights and optionally agent, scopes and expiresAt to restrict it.")
    .register(secrets, { mask: maskTokens }),
  audit: z
    .boolean()
    .default(false)
    .describe("Whether the audit log records who read or changed what, through the gateway and the command line."),
  socket: z
    .union([z.boolean(), z.string().min(1)])
    .default(true)
    .describe(
      "A Unix socket to listen on, which only the owner can open: true for gateway.sock in the home folder, a path, or false.",
    ),
  tls: z
    .strictObject({
      cert: z
        .string()
        .min(1)
        .optional()
        .describe("The PEM file of the certificate and its chain, to serve HTTPS. It is read again when it changes."),
      key: z.string().min(1).optional().describe("The PEM file of the certificate's private key."),
    })
    .prefault({}),
  allowedHosts: z
    .array(z.string().min(1))
    .default([])
    .describe(
      "Additional host names that requests may use, in addition to the gateway's own address and the loopback names.",
    ),
  allowedOrigins: z
    .array(z.string().min(1))
    .default([])
    .describe("Additional origins of web pages that may call the gateway, in addition to its own console."),
  bodyLimitBytes: z
    .int()
    .min(1024)
    .default(32 * 1024 * 1024)
    .describe("The maximum request size, in bytes."),
  requestsPerMinute: z.int().min(1).default(600).describe("The maximum requests per minute and token."),
  maxConnections: z
    .int()
    .min(1)
    .max(100_000)
    .default(1_000)
    .describe("The maximum number of open connections; more are closed at once."),
  maxStreams: z.int().min(1).max(100_000).default(256).describe("The maximum number of open event streams."),
  quotas: z
    .strictObject({
      bytesPerDay: z
        .int()
        .min(1)
        .default(1024 * 1024 * 1024)
        .describe("The maximum bytes per day and token in requests that write; the owner's tokens are not limited."),
      turnsPerDay: z
        .int()
        .min(1)
        .default(2_000)
        .describe("The maximum turns per day and token, each of which calls models; the owner's are not limited."),
      tokensPerDay: z
        .int()
        .min(1)
        .optional()
        .describe(
          "The maximum tokens per day and token that models read and write in its turns; the owner's are not limited. Default: no limit.",
        ),
      streams: z.int().min(1).max(100_000).default(16).describe("The maximum number of open event streams per token."),
    })
    .prefault({}),
  requestTimeoutMs: z.int().min(100).default(120_000).describe("The time limit of a request, in milliseconds."),
});
