import { z } from "zod";
import { advancedSection } from "./sections/advanced.ts";
import { contextSection } from "./sections/context.ts";
import { encryptionSection } from "./sections/encryption.ts";
import { gatewaySection } from "./sections/gateway.ts";
import { generalSettings } from "./sections/general.ts";
import { memorySection } from "./sections/memory.ts";
import { modelsSection } from "./sections/models.ts";
import { cronSection, importSection, logSection, storeSection } from "./sections/operations.ts";
import { proxySection } from "./sections/proxy.ts";
import { recallSection } from "./sections/recall.ts";
import { retentionSection } from "./sections/retention.ts";
import { searchSection } from "./sections/search.ts";
import { sendPolicySection, sessionSection } from "./sections/session.ts";
import { turnSection } from "./sections/turn.ts";

/**
 * All settings. A module adds its own with a file in `sections/` and a line here: a strict object in which every
 * setting has a default (or is optional) and a description. `.prefault({})` makes the section itself optional.
 */
export const configSchema = z.strictObject({
  ...generalSettings,
  session: sessionSection.prefault({}),
  sendPolicy: sendPolicySection.prefault({}),
  context: contextSection.prefault({}),
  turn: turnSection.prefault({}),
  cron: cronSection.prefault({}),
  gateway: gatewaySection.prefault({}),
  proxy: proxySection.prefault({}),
  store: storeSection.prefault({}),
  encryption: encryptionSection.prefault({}),
  models: modelsSection.prefault({}),
  recall: recallSection.prefault({}),
  search: searchSection.prefault({}),
  memory: memorySection.prefault({}),
  retention: retentionSection.prefault({}),
  import: importSection.prefault({}),
  log: logSection.prefault({}),
  advanced: advancedSection.prefault({}),
});

/** Settings are parsed once in a process: generating code for them first, as zod does, takes longer than it saves. */
export const parseOnce = { jitless: true } as const;

export type Config = z.output<typeof configSchema>;
/** The input form, with everything optional. */
export type ConfigInput = z.input<typeof configSchema>;
