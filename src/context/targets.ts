/** How long a summary of so many tokens should be, and how long when it has to be brief. */
export function normalTarget(inputTokens: number, mostTokens: number): number {
  return Math.max(192, Math.min(mostTokens, Math.floor(0.35 * inputTokens)));
}

export function aggressiveTarget(inputTokens: number, mostTokens: number): number {
  const normal = normalTarget(inputTokens, mostTokens);
  return Math.max(96, Math.min(Math.floor(0.55 * normal), Math.floor(0.2 * inputTokens)));
}
