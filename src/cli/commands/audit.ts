import { VarveError } from "../../domain/index.ts";
import { type CommonOptions, withVarve } from "../context.ts";
import { number, table, when } from "../output.ts";

export interface AuditFlags extends CommonOptions {
  since?: number;
  principal?: string;
  limit?: number;
  expect?: string;
}

export async function listAuditCommand(flags: AuditFlags): Promise<void> {
  await withVarve(flags, async (varve, output) => {
    const { since, principal, limit } = flags;
    const records = await varve.audit.list({ since, principal, limit });
    const rows = records.map((one) => [
      one.num,
      when(one.time),
      one.principal,
      one.action,
      Object.values(one.targets).join(" "),
      one.status,
    ]);
    const empty = varve.audit.enabled ? "The audit log is empty." : "The audit log is off: gateway.audit is false.";
    output.show(rows.length === 0 ? empty : table(["NUM", "TIME", "WHO", "ACTION", "IDS", "STATUS"], rows));
    output.result(records);
  });
}

export async function verifyAuditCommand(flags: AuditFlags): Promise<void> {
  await withVarve(flags, async (varve, output) => {
    const report = await varve.audit.verify(flags.expect === undefined ? undefined : parseLink(flags.expect));
    const { intact, rows, head, fault } = report;
    output.say(
      intact
        ? `The audit log is intact: ${number(rows)} records. Its head is ${head.num}:${head.hash}.`
        : `The audit log is broken at record ${fault?.num}: ${fault?.reason}.`,
    );
    output.result(report);
    if (!intact) process.exitCode = 1;
  });
}

function parseLink(text: string): { num: number; hash: string } {
  const [, num, hash] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text) ?? [];
  if (num !== undefined && hash !== undefined) return { num: Number(num), hash };
  throw new VarveError("BAD_REQUEST", `${JSON.stringify(text.slice(0, 100))} is not a head of the audit log.`, {
    remedy: "Give the number and the hash that `varve audit verify` printed, with a colon between them.",
  });
}
