import { z } from "zod";
import { contextSection } from "./sections/context.ts";
import { gatewaySection } from "./sections/gateway.ts";
import { general } from "./sections/general.ts";
import { cronSection, importSection, logSection } from "./sections/keeping.ts";
import { memorySection } from "./sections/memory.ts";
import { modelsSection } from "./sections/models.ts";
import { proxySection } from "./sections/proxy.ts";
import { searchSection } from "./sections/search.ts";
import { sendPolicySection } from "./sections/send-policy.ts";
import { sessionSection } from "./sections/session.ts";
import { storeSection } from "./sections/store.ts";
import { turnSection } from "./sections/turn.ts";

/**
 * Every setting there is. A room adds its own by a file in `sections/` and a line here: a strict object, in which every
 * setting has a default (or is optional) and a description. `.prefault({})` makes the section itself optional.
 */
export const configSchema = z.strictObject({
  ...general,
  session: sessionSection.prefault({}),
  sendPolicy: sendPolicySection.prefault({}),
  context: contextSection.prefault({}),
  turn: turnSection.prefault({}),
  cron: cronSection.prefault({}),
  gateway: gatewaySection.prefault({}),
  proxy: proxySection.prefault({}),
  store: storeSection.prefault({}),
  models: modelsSection.prefault({}),
  search: searchSection.prefault({}),
  memory: memorySection.prefault({}),
  import: importSection.prefault({}),
  log: logSection.prefault({}),
});

export type Config = z.output<typeof configSchema>;
/** The same with everything optional, as a caller writes it. */
export type ConfigInput = z.input<typeof configSchema>;
