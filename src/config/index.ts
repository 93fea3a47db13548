export { setConfigValue, unsetConfigValue } from "./edit.ts";
export type { Environment } from "./env-layer.ts";
export { type ConfigFault, type ConfigSource, printFault, printSource } from "./faults.ts";
export {
  backupFolder,
  type ConfigRow,
  checkConfig,
  configPath,
  findConfigWarnings,
  importedWorkspace,
  importedWorkspaces,
  type LoadedConfig,
  type LoadOptions,
  listConfig,
  loadConfig,
  resolveHome,
} from "./load.ts";
export { findLocalTimeZone } from "./local-time-zone.ts";
export type { Config, ConfigInput } from "./schema.ts";
export { findNearestName, findSetting, type Setting, settings } from "./settings.ts";
export { writeAtomically } from "./write-atomically.ts";
