const agentsMax = 100;
const messagesMax = 200;

/** Messages that searches found and the model has not embedded yet: they are embedded first. In memory only. */
export class WantedMessages {
  private readonly agents = new Map<string, Set<number>>();

  add(agent: string, seqs: readonly number[]): void {
    if (seqs.length === 0) return;
    const wanted = this.agents.get(agent) ?? new Set();
    for (const seq of seqs) if (wanted.size < messagesMax) wanted.add(seq);
    if (this.agents.size < agentsMax) this.agents.set(agent, wanted);
  }

  list(agent: string, limit: number): number[] {
    return [...(this.agents.get(agent) ?? [])].slice(0, limit);
  }

  remove(agent: string, seqs: readonly number[]): void {
    const wanted = this.agents.get(agent);
    for (const seq of seqs) wanted?.delete(seq);
    if (wanted?.size === 0) this.agents.delete(agent);
  }
}
