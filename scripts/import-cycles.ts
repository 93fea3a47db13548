/** Finds circles of imports between files. */

export interface ImportCycle {
  from: string;
  line: number;
  target: string;
  /** The circle, from a file back to itself. */
  path: string[];
}

type Graph = ReadonlyMap<string, readonly { target: string; line: number }[]>;

/**
 * One circle for each import that closes one during a walk in depth. Every circle has such an import, so none is missed;
 * a file is walked once, so the time is linear.
 */
export function findCycles(graph: Graph): ImportCycle[] {
  const cycles: ImportCycle[] = [];
  const done = new Set<string>();
  const trail: string[] = [];

  const walk = (file: string): void => {
    trail.push(file);
    for (const { target, line } of graph.get(file) ?? []) {
      const start = trail.indexOf(target);
      if (start !== -1) cycles.push({ from: file, line, target, path: [...trail.slice(start), target] });
      else if (!done.has(target)) walk(target);
    }
    trail.pop();
    done.add(file);
  };

  for (const file of graph.keys()) if (!done.has(file)) walk(file);
  return cycles;
}
