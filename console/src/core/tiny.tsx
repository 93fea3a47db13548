/** A core of a few pixels, for lists. */
import { useEffect, useRef } from "preact/hooks";
import type { Answer } from "../api/client.ts";
import { readColours } from "./draw.ts";
import "./core.css";

type Tiny = Answer<"POST /api/sessions/cores">["cores"][number];

export function TinyCore({ core }: { core: Tiny | undefined }) {
  const ref = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const canvas = ref.current;
    const context = canvas?.getContext("2d");
    if (!canvas || !context || !canvas.parentElement) return;
    const scale = devicePixelRatio || 1;
    const [width, height] = [14, 38];
    canvas.width = width * scale;
    canvas.height = height * scale;
    context.setTransform(scale, 0, 0, scale, 0, 0);
    const colours = readColours(canvas.parentElement);
    const layers = core ? [...core.summaries, ...(core.tail > 0 ? [{ depth: 0, messages: core.tail }] : [])] : [];
    const weights = layers.map(({ depth, messages }) => (depth === 0 ? 1 : 2) + Math.log2(1 + messages));
    const total = Math.max(
      10,
      weights.reduce((sum, one) => sum + one, 0),
    );
    let bottom = height;
    context.globalAlpha = 1;
    for (const [index, { depth }] of layers.entries()) {
      const thickness = ((weights[index] ?? 0) / total) * height;
      context.fillStyle = colours.layers[Math.min(depth, 4)] ?? colours.ink;
      context.fillRect(0, bottom - thickness, width, Math.max(1, thickness - 0.75));
      bottom -= thickness;
    }
  }, [core]);
  return <canvas ref={ref} class="tiny-core" aria-hidden="true" />;
}
