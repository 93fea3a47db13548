/** Routes to change settings. The gateway reads its settings when it starts. */
import { z } from "@hono/zod-openapi";
import { listConfig, loadConfig, setConfigValue, unsetConfigValue } from "../../config/index.ts";
import { VarveError } from "../../domain/index.ts";
import type { GatewayApp, GatewayContext } from "../context.ts";
import { addRoute, createRoute, failures, jsonBody, jsonContent, needs, reply } from "../routing.ts";
import { fields, text } from "../schemas.ts";

const changedSchema = z.object({
  key: z.string(),
  value: z.unknown().describe("The value that the next start of the gateway uses; secrets are masked."),
  source: z.string(),
  written: z.boolean().describe("False when it was only checked."),
  needsRestart: z.boolean(),
});
const set = createRoute({
  method: "post",
  path: "/api/config/{setting}",
  tags: ["maintenance"],
  summary: "Set a setting in config.yaml, or remove it; it is checked first, and takes effect with the next start",
  ...needs("admin"),
  request: {
    params: z.object({ setting: text(200).openapi({ example: "gateway.port" }) }),
    body: jsonBody(
      fields({
        value: z
          .string()
          .max(100_000)
          .nullable()
          .describe("The value as `varve config set` takes it; null removes it."),
        check: z.boolean().optional().describe("Only checks whether the value is valid."),
      }).openapi({ example: { value: "7411", check: true } }),
    ),
  },
  responses: { 200: jsonContent(changedSchema, "The setting."), ...failures },
});

export const settingsRoutes = { set };

export function addSettingsRoutes(app: GatewayApp, { varve }: GatewayContext): void {
  addRoute(app, set, (c) => {
    const { setting: key } = c.req.valid("param");
    const { value, check = false } = c.req.valid("json");
    const { home } = varve.settings;
    if (value !== null) setConfigValue(home, key, value, { isCheck: check });
    else if (!check) unsetConfigValue(home, key);
    const row = listConfig(loadConfig({ home })).find((one) => one.key === key);
    if (!row) {
      throw new VarveError("BAD_CONFIG", `${key} is not a setting.`, { remedy: "GET /api/config lists all settings." });
    }
    const running = listConfig(varve.settings).find((one) => one.key === key);
    const needsRestart = JSON.stringify(running?.value) !== JSON.stringify(row.value);
    return reply(c, changedSchema, { key, value: row.value, source: row.source, written: !check, needsRestart });
  });
}
