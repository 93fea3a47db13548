import { GatewayProcess, send } from "../gateway-process.ts";
import { type BenchResult, percentile, round } from "../result.ts";

export interface AccessBenchOptions {
  /** How many rounds; in each, every variant sends the same requests. */
  rounds: number;
  onProgress?(done: number, total: number): void;
}

interface Variant {
  name: string;
  gateway: GatewayProcess;
  token: string;
  took: number[];
}

const bound = "bound-token";

/**
 * The cost of the audit log and of a bound token: the same requests to a gateway without audit and to one with it, by the
 * owner and by a token that is bound to an agent. The variants take turns, so that all see the same machine.
 */
export async function benchAccess({ rounds, onProgress }: AccessBenchOptions): Promise<BenchResult[]> {
  const gateways = await Promise.all(
    [false, true].map((audit) =>
      GatewayProcess.start({ gateway: { audit, requestsPerMinute: 10_000_000 } }, [
        { name: bound, rights: ["read", "write"], agent: "main" },
      ]),
    ),
  );
  try {
    const variants = gateways.flatMap((gateway, index): Variant[] => {
      const audit = index === 0 ? "without audit" : "with audit";
      return [
        { name: `owner, ${audit}`, gateway, token: gateway.ownerToken, took: [] },
        { name: `bound token, ${audit}`, gateway, token: bound, took: [] },
      ];
    });
    for (const variant of variants) {
      await send(`${variant.gateway.url}/api/sessions`, variant.token, { key: sessionKey(variant) });
    }
    const warmRounds = Math.ceil(rounds / 5);
    for (let count = -warmRounds; count < rounds; count += 1) {
      // The order changes, so that none always follows the same one.
      const ordered = variants.map((_, index) => variants[(index + Math.abs(count)) % variants.length] ?? variants[0]);
      for (const variant of ordered) {
        if (variant === undefined) continue;
        const ms = await measureRound(variant, count);
        if (count >= 0) variant.took.push(ms);
      }
      onProgress?.(Math.max(0, count + 1), rounds);
    }
    const baseline = percentile(variants[0]?.took ?? [], 0.5);
    return variants.map(({ name, took }) => {
      const value = percentile(took, 0.5);
      return { name, size: took.length, value: round(value), unit: "ms", ratio: round(value / baseline) };
    });
  } finally {
    for (const gateway of gateways) await gateway.stop();
  }
}

function sessionKey({ name }: Variant): string {
  return `agent:main:bench:direct:${name.replaceAll(/\W+/g, "-")}`;
}

/** A message is stored, and the conversation is assembled for a prompt. */
async function measureRound(variant: Variant, count: number): Promise<number> {
  const { gateway, token } = variant;
  const path = `${gateway.url}/api/sessions/${encodeURIComponent(sessionKey(variant))}`;
  const began = performance.now();
  await send(`${path}/messages`, token, {
    messages: [{ id: `m${count}`, role: "user", content: `Message ${count}: what was decided about the plan?` }],
  });
  await send(`${path}/context/assembled?prompt=plan&budget=4000`, token);
  return performance.now() - began;
}
