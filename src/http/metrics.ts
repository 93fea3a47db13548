import { monitorEventLoopDelay } from "node:perf_hooks";
import type { EngineEvent, Status, Varve } from "../index.ts";

/** Counters of this process, rendered together with the counts of the store. */
export interface Metrics {
  request(method: string, status: number): void;
  event(event: EngineEvent): void;
  /** Renders all metrics in the text format of Prometheus. */
  render(varve: Varve): Promise<string>;
  close(): void;
}

type Labels = Record<string, string | number>;

export function createMetrics(): Metrics {
  const requests = new Map<string, number>();
  const turns = new Map<string, number>();
  const events = new Map<string, number>();
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  const add = (counts: Map<string, number>, name: string): void => {
    counts.set(name, (counts.get(name) ?? 0) + 1);
  };
  return {
    request: (method, status) => add(requests, `${method} ${status}`),
    event(event) {
      if (event.type === "turn.ended") add(turns, event.data.status);
      else add(events, event.type);
    },
    async render(varve) {
      const lines: string[] = [];
      const family = (name: string, type: "counter" | "gauge", help: string, values: [Labels, number][]): void => {
        lines.push(`# HELP varve_${name} ${help}`, `# TYPE varve_${name} ${type}`);
        for (const [labels, value] of values) lines.push(`varve_${name}${formatLabels(labels)} ${value}`);
      };
      storeFamilies(await varve.status(), family);
      family("turns_total", "counter", "Turns that ended in this process.", toLabelValues(turns, "status"));
      family(
        "events_total",
        "counter",
        "Events that the engine reported in this process.",
        toLabelValues(events, "type"),
      );
      family(
        "http_requests_total",
        "counter",
        "HTTP requests that were answered.",
        [...requests].map(([name, count]) => {
          const [method = "", status = ""] = name.split(" ");
          return [{ method, status }, count];
        }),
      );
      family("event_loop_delay_seconds", "gauge", "Delay of the event loop since the start.", [
        [{ quantile: "0.5" }, delay.percentile(50) / 1e9],
        [{ quantile: "0.999" }, delay.percentile(99.9) / 1e9],
      ]);
      family("resident_memory_bytes", "gauge", "Resident memory of this process.", [[{}, process.memoryUsage.rss()]]);
      return `${lines.join("\n")}\n`;
    },
    close: () => {
      delay.disable();
    },
  };
}

type Family = (name: string, type: "counter" | "gauge", help: string, values: [Labels, number][]) => void;

function storeFamilies(status: Status, family: Family): void {
  const one = (value: number): [Labels, number][] => [[{}, value]];
  family("info", "gauge", "Version, store engine and schema version.", [
    [{ version: status.version, engine: status.engine, schema: status.schemaVersion }, 1],
  ]);
  family("sessions", "gauge", "Sessions in the store.", one(status.sessions));
  family("messages", "gauge", "Messages in the store.", one(status.messages));
  family("summaries", "gauge", "Summaries in the store.", one(status.summaries));
  family("memories", "gauge", "Memories in the store, history included.", one(status.memories));
  family("database_bytes", "gauge", "Size of the database.", one(status.databaseBytes));
  family("quarantined", "gauge", "Records that could not be imported.", one(status.quarantined));
  family("jobs", "gauge", "Background jobs, by state.", toStateValues(status.jobs));
  family("inbox_messages", "gauge", "Messages accepted for a turn, by state.", toStateValues(status.inbox));
  family("vectors", "gauge", "Messages that have a vector.", one(status.search.vectors));
  const models = status.models.flatMap(({ name, ...model }) => {
    const [purpose = "", reference] = name.split(" ");
    return reference === undefined ? [] : [{ labels: { purpose, model: reference }, model }];
  });
  const counted = (name: string, help: string, of: (model: (typeof models)[number]["model"]) => number): void =>
    family(
      name,
      "counter",
      help,
      models.map(({ labels, model }) => [labels, of(model)]),
    );
  counted("model_calls_total", "Calls of models.", (model) => model.calls);
  counted("model_failures_total", "Failed calls of models.", (model) => model.failures);
  counted("model_input_tokens_total", "Tokens that models read.", (model) => model.inputTokens);
  counted("model_output_tokens_total", "Tokens that models wrote.", (model) => model.outputTokens);
}

function toStateValues(counts: Record<string, number>): [Labels, number][] {
  return Object.entries(counts).map(([state, count]) => [{ state }, count]);
}

function toLabelValues(counts: ReadonlyMap<string, number>, label: string): [Labels, number][] {
  return [...counts].map(([value, count]) => [{ [label]: value }, count]);
}

function formatLabels(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(String(value))}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

function escapeLabel(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
