export function agentScope(agent: string): string {
  return `agent:${agent}`;
}

export function reflectionScope(agent: string): string {
  return `reflection:agent:${agent}`;
}
