/** Where each layer of a core lies: pure, so that every zoom and the tests use the same rule. */
import type { Answer } from "../api/client.ts";

export type Layer = Answer<"GET /api/sessions/{key}/layers">["layers"][number];

export interface PlacedLayer {
  layer: Layer;
  /** From the top, in pixels. The newest layer is on top. */
  top: number;
  height: number;
}

/** The thickness grows with the messages that a layer stands for, more slowly the more they are. */
function weigh({ kind, messages, depth }: Layer): number {
  if (kind === "message") return 1;
  return (kind === "summary" ? 3 + depth * 2 : 1.5) + Math.sqrt(messages) * 1.1;
}

/** Fits the layers, oldest first, into a height. A layer is never thicker than a tenth of a tall core with few layers. */
export function placeLayers(layers: readonly Layer[], height: number): PlacedLayer[] {
  const weights = layers.map(weigh);
  const total = weights.reduce((sum, one) => sum + one, 0);
  if (total === 0) return [];
  const unit = Math.min(height / total, 9);
  const placed: PlacedLayer[] = [];
  let top = 0;
  for (let index = layers.length - 1; index >= 0; index -= 1) {
    const layer = layers[index];
    const thickness = (weights[index] ?? 0) * unit;
    if (!layer) continue;
    placed.push({ layer, top, height: thickness });
    top += thickness;
  }
  return placed;
}

export function findAt(placed: readonly PlacedLayer[], y: number): number {
  return placed.findIndex(({ top, height }) => y >= top && y < top + height);
}

/** The part of the core that a range of the log covers, in pixels. */
export function findSpan(
  placed: readonly PlacedLayer[],
  fromSeq: number,
  toSeq: number,
): { top: number; bottom: number } | undefined {
  const covered = placed.filter(({ layer }) => layer.lastSeq >= fromSeq && layer.firstSeq <= toSeq);
  const [first, last] = [covered[0], covered.at(-1)];
  if (!first || !last) return undefined;
  return { top: interpolate(first, toSeq), bottom: interpolate(last, fromSeq - 1) };
}

function interpolate({ layer, top, height }: PlacedLayer, seq: number): number {
  const length = layer.lastSeq - layer.firstSeq + 1;
  const share = Math.min(1, Math.max(0, (layer.lastSeq - seq) / length));
  return top + height * share;
}
