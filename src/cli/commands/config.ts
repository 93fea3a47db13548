import {
  checkConfig,
  findConfigWarnings,
  listConfig,
  loadConfig,
  printFault,
  resolveHome,
  setConfigValue,
  unsetConfigValue,
} from "../../config/index.ts";
import { VarveError } from "../../domain/index.ts";
import type { CommonOptions } from "../context.ts";
import { outputFor, table } from "../output.ts";

const formatValue = (value: unknown): string => (typeof value === "string" ? value : (JSON.stringify(value) ?? ""));

export function listCommand(flags: CommonOptions): void {
  const output = outputFor(flags);
  const rows = listConfig(loadConfig({ home: flags.home }));
  output.show(
    table(
      ["SETTING", "VALUE", "SOURCE"],
      rows.map((row) => [row.key, formatValue(row.value), row.source]),
    ),
  );
  output.result(rows);
}

export function getCommand(key: string, flags: CommonOptions): void {
  const output = outputFor(flags);
  const row = listConfig(loadConfig({ home: flags.home })).find((one) => one.key === key);
  if (!row) {
    throw new VarveError("NOT_FOUND", `There is no setting ${key}.`, {
      remedy: "Run `varve config list` to see all settings.",
    });
  }
  output.show(formatValue(row.value));
  output.result(row);
}

export function setCommand(key: string, value: string, flags: CommonOptions): void {
  const output = outputFor(flags);
  const home = resolveHome(flags);
  setConfigValue(home, key, value);
  output.say(`${key} is set in ${home}/config.yaml.`);
  output.result({ key, value });
}

export function unsetCommand(key: string, flags: CommonOptions): void {
  const output = outputFor(flags);
  const home = resolveHome(flags);
  const wasSet = unsetConfigValue(home, key);
  output.say(wasSet ? `${key} was removed from ${home}/config.yaml.` : `${key} is not set in ${home}/config.yaml.`);
  output.result({ key, unset: wasSet });
}

export function checkCommand(flags: CommonOptions): void {
  const output = outputFor(flags);
  const home = resolveHome(flags);
  const faults = checkConfig(home, process.env);
  const warnings = findConfigWarnings(home, process.env);
  for (const warning of warnings) process.stderr.write(`varve: warning: ${printFault(warning)}\n`);
  output.show(faults.length === 0 ? "The settings are valid." : faults.map(printFault).join("\n"));
  output.result({ faults, warnings });
  if (faults.length > 0) process.exitCode = 2;
}
