/** Draws a core sample on a canvas: thin bright layers on top, thicker darker ones below. */
import type { PlacedLayer } from "./layout.ts";

export interface CoreColours {
  layers: readonly string[];
  recall: string;
  accent: string;
  ground: string;
  ink: string;
}

export interface CoreMarks {
  /** The ids of layers in the current window; undefined while it is not known. */
  inWindow?: (layer: PlacedLayer["layer"]) => boolean;
  recalled?: (layer: PlacedLayer["layer"]) => boolean;
  selected?: string;
  hovered?: string;
  /** The entries that the transcript shows. */
  view?: { top: number; bottom: number };
}

const depthMax = 4;
const fadedAlpha = 0.38;

export function readColours(element: Element): CoreColours {
  const style = getComputedStyle(element);
  // A computed colour resolves light-dark(); a custom property does not.
  const probe = document.createElement("span");
  element.append(probe);
  const resolve = (name: string): string => {
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color || style.color;
  };
  const colours = {
    layers: Array.from({ length: depthMax + 1 }, (_, depth) => resolve(`--layer-${depth}`)),
    recall: resolve("--layer-recall"),
    accent: resolve("--accent"),
    ground: resolve("--ground"),
    ink: resolve("--ink"),
  };
  probe.remove();
  return colours;
}

export function drawCore(
  context: CanvasRenderingContext2D,
  placed: readonly PlacedLayer[],
  size: { width: number; height: number },
  colours: CoreColours,
  marks: CoreMarks,
): void {
  const { width } = size;
  context.clearRect(0, 0, size.width, size.height);
  const strip = { left: 10, right: width - 10 };
  const bottom = placed.at(-1) ? (placed.at(-1)?.top ?? 0) + (placed.at(-1)?.height ?? 0) : 0;
  context.save();
  context.beginPath();
  context.roundRect(strip.left, 0, strip.right - strip.left, Math.max(bottom, 1), 7);
  context.clip();
  for (const one of placed) drawLayer(context, one, strip, colours, marks);
  shadeSides(context, strip, bottom);
  context.restore();
  for (const one of placed) drawMarks(context, one, strip, colours, marks);
  if (marks.view) drawView(context, marks.view, width, colours);
}

function drawLayer(
  context: CanvasRenderingContext2D,
  { layer, top, height }: PlacedLayer,
  strip: { left: number; right: number },
  colours: CoreColours,
  marks: CoreMarks,
): void {
  const depth = Math.min(layer.depth, depthMax);
  context.globalAlpha = marks.inWindow === undefined || marks.inWindow(layer) ? 1 : fadedAlpha;
  context.fillStyle = colours.layers[depth] ?? colours.ink;
  const random = createRandom(layer.firstSeq * 31 + layer.depth);
  const wave = depth === 0 ? 0 : Math.min(2.5, height / 6);
  context.beginPath();
  traceEdge(context, top, strip, wave, random());
  context.lineTo(strip.right, top + height + 1);
  context.lineTo(strip.left, top + height + 1);
  context.fill();
  // Fine bands inside a thick layer, as a season leaves them.
  const bands = Math.min(24, Math.floor(height / 5));
  context.fillStyle = "#000";
  const opacity = context.globalAlpha;
  for (let band = 0; band < bands; band += 1) {
    context.globalAlpha = opacity * (0.03 + random() * 0.09);
    const y = top + 2 + random() * (height - 3);
    context.fillRect(strip.left, y, strip.right - strip.left, 0.6 + random() * 1.4);
  }
  context.globalAlpha = opacity * 0.25;
  if (height > 2.5) context.fillRect(strip.left, top + height - 0.7, strip.right - strip.left, 0.7);
  context.globalAlpha = 1;
}

function traceEdge(
  context: CanvasRenderingContext2D,
  top: number,
  strip: { left: number; right: number },
  wave: number,
  phase: number,
): void {
  context.moveTo(strip.left, top);
  const steps = 12;
  for (let step = 0; step <= steps; step += 1) {
    const x = strip.left + ((strip.right - strip.left) * step) / steps;
    context.lineTo(x, top + Math.sin(phase * 6.3 + step * 0.9) * wave * 0.5);
  }
}

/** A core is round: its sides lie in the shade. */
function shadeSides(context: CanvasRenderingContext2D, strip: { left: number; right: number }, bottom: number): void {
  const shade = context.createLinearGradient(strip.left, 0, strip.right, 0);
  shade.addColorStop(0, "rgba(0,0,0,0.28)");
  shade.addColorStop(0.22, "rgba(0,0,0,0)");
  shade.addColorStop(0.42, "rgba(255,255,255,0.14)");
  shade.addColorStop(0.7, "rgba(0,0,0,0)");
  shade.addColorStop(1, "rgba(0,0,0,0.32)");
  context.fillStyle = shade;
  context.fillRect(strip.left, 0, strip.right - strip.left, bottom);
}

function drawMarks(
  context: CanvasRenderingContext2D,
  { layer, top, height }: PlacedLayer,
  strip: { left: number; right: number },
  colours: CoreColours,
  marks: CoreMarks,
): void {
  if (marks.recalled?.(layer)) {
    context.fillStyle = colours.recall;
    context.shadowColor = colours.recall;
    context.shadowBlur = 8;
    context.fillRect(strip.left - 4, top, strip.right - strip.left + 8, Math.max(2, Math.min(height, 4)));
    context.shadowBlur = 0;
  }
  const isSelected = layer.id === marks.selected;
  if (!isSelected && layer.id !== marks.hovered) return;
  context.strokeStyle = isSelected ? colours.accent : colours.ink;
  context.lineWidth = isSelected ? 2 : 1;
  context.strokeRect(strip.left - 3, top, strip.right - strip.left + 6, Math.max(3, height));
}

function drawView(
  context: CanvasRenderingContext2D,
  { top, bottom }: { top: number; bottom: number },
  width: number,
  colours: CoreColours,
): void {
  const height = Math.max(4, bottom - top);
  context.fillStyle = colours.accent;
  context.fillRect(0, top, 4, height);
  context.fillRect(width - 4, top, 4, height);
}

/** Deterministic, so that a layer looks the same whenever it is drawn. */
function createRandom(seed: number): () => number {
  let state = (seed * 2654435761) >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state >>>= 0;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state / 4294967296;
  };
}
