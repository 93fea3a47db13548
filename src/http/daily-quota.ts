import { isUnlimited } from "../authorization/index.ts";
import { type Clock, VarveError } from "../domain/index.ts";
import type { TokenPrincipal } from "./tokens.ts";

const dayMs = 86_400_000;
const keysMax = 10_000;

export interface DailyQuota {
  /** Counts an amount for a token; throws when it exceeds what is left of the day. The owner's tokens are not limited. */
  take(principal: TokenPrincipal, amount: number): void;
  /** Counts what is known only afterwards, such as the tokens of a model: it may exceed the limit. */
  add(principal: TokenPrincipal, amount: number): void;
  /** Throws when nothing is left of the day. */
  check(principal: TokenPrincipal): void;
}

/** Counts in this process, per token and day in UTC; `max` undefined means no limit. */
export function createDailyQuota(
  clock: Clock,
  { max, what, setting }: { max: number | undefined; what: string; setting: string },
): DailyQuota {
  const used = new Map<string, number>();
  let day = -1;
  const read = (principal: TokenPrincipal): number => {
    const today = Math.floor(clock.now() / dayMs);
    if (today !== day) used.clear();
    day = today;
    return used.get(principal.name) ?? 0;
  };
  const add = (principal: TokenPrincipal, amount: number): void => {
    if (max === undefined || isUnlimited(principal)) return;
    used.set(principal.name, read(principal) + amount);
    if (used.size > keysMax) used.delete(used.keys().next().value ?? "");
  };
  const requireLeft = (principal: TokenPrincipal, amount: number): void => {
    if (max === undefined || isUnlimited(principal) || read(principal) + amount <= max) return;
    const retryAfterSeconds = Math.max(1, Math.ceil(((day + 1) * dayMs - clock.now()) / 1_000));
    const name = JSON.stringify(principal.name);
    throw new VarveError("RATE_LIMITED", `The access token ${name} has used its ${max} ${what} of this day.`, {
      remedy: `Try again after midnight (UTC), or raise ${setting}.`,
      details: { retryAfterSeconds },
    });
  };
  return {
    take(principal, amount) {
      requireLeft(principal, amount);
      add(principal, amount);
    },
    add,
    check: (principal) => requireLeft(principal, 1),
  };
}
