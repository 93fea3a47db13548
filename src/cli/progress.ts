import { progress as bar } from "@clack/prompts";

export interface Progress {
  update(done: number, total: number, words: string): void;
  finish(words: string): void;
}

const plainEveryMs = 2_000;

/** Shows a progress bar on a terminal, and a plain line every two seconds elsewhere. Always on standard error. */
export function startProgress(title: string): Progress {
  return process.stderr.isTTY ? terminalBar(title) : plainLines(title);
}

function terminalBar(title: string): Progress {
  const steps = 1000;
  const shown = bar({ max: steps, output: process.stderr });
  shown.start(title);
  const clock = stopwatch();
  let at = 0;
  return {
    update(done, total, words) {
      const next = total === 0 ? steps : Math.floor((done / total) * steps);
      shown.advance(Math.max(0, next - at), `${title}: ${words}${clock.left(done, total)}`);
      at = Math.max(at, next);
    },
    finish: (words) => shown.stop(words),
  };
}

function plainLines(title: string): Progress {
  const clock = stopwatch();
  let lastLine = performance.now();
  return {
    update(done, total, words) {
      if (performance.now() - lastLine < plainEveryMs) return;
      lastLine = performance.now();
      const share = total === 0 ? 100 : Math.floor((done / total) * 100);
      process.stderr.write(`${title}: ${share}% ${words}${clock.left(done, total)}\n`);
    },
    finish: () => undefined,
  };
}

function stopwatch() {
  const started = performance.now();
  return {
    left(done: number, total: number): string {
      const seconds = (performance.now() - started) / 1000;
      if (seconds < 1 || done === 0) return "";
      const remaining = Math.ceil((seconds / done) * (total - done));
      return remaining > 0 ? `, ${remaining} s left` : "";
    },
  };
}
