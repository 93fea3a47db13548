import { z } from "zod";
import { maskTokens, secrets } from "../secrets.ts";

const token = z.strictObject({
  name: z.string().min(1).max(100),
  token: z
    .string()
    .regex(
      /^(sha256:[0-9a-f]{64}|env:[A-Za-z_][A-Za-z0-9_]*)$/,
      "must be sha256: and the token's SHA-256 in hex (printf %s TOKEN | sha256sum), or env: and the variable that holds it",
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
    .describe("The address the gateway listens on. Any other than loopback needs tokens."),
  port: z.int().min(0).max(65_535).default(7411).describe("The port the gateway listens on; 0 takes any free one."),
  tokens: z
    .array(token)
    .default([])
    .describe(
      "Who may come in, each with name, token, rights and, if less than everything, agent, scopes and expiresAt.",
    )
    .register(secrets, { mask: maskTokens }),
  allowedHosts: z
    .array(z.string().min(1))
    .default([])
    .describe("Names the gateway may be called by, beside its own address and the loopback names."),
  allowedOrigins: z
    .array(z.string().min(1))
    .default([])
    .describe("Origins of web pages that may call the gateway, beside its own console."),
  bodyLimitBytes: z
    .int()
    .min(1024)
    .default(32 * 1024 * 1024)
    .describe("The largest request the gateway reads, in bytes."),
  requestsPerMinute: z.int().min(1).default(600).describe("How many requests a token may make in a minute."),
  requestTimeoutMs: z
    .int()
    .min(100)
    .default(120_000)
    .describe("How long a request may take before it is given up, in milliseconds."),
});
