/** The core of a session: a drawing for the eye, a list of layers for the keyboard and for screen readers. */
import { useSignal } from "@preact/signals";
import { useEffect, useId, useRef } from "preact/hooks";
import { count, formatDay, formatNumber } from "../ui/format.ts";
import { drawCore, readColours } from "./draw.ts";
import { findAt, findSpan, type Layer, type PlacedLayer, placeLayers } from "./layout.ts";
import type { CoreState } from "./state.ts";
import "./core.css";

interface CoreProps {
  core: CoreState;
  /** The range of the log that the transcript shows. */
  view: { from: number; to: number } | undefined;
  onJump: (seq: number) => void;
}

export function Core({ core, view, onJump }: CoreProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const box = useRef<HTMLDivElement>(null);
  const placed = useRef<PlacedLayer[]>([]);
  const hovered = useSignal<string | undefined>(undefined);
  const isText = useSignal(false);
  const listId = useId();
  const layers = core.layers.data.value?.layers ?? [];
  const height = useSignal(600);

  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const observer = new ResizeObserver(([entry]) => {
      height.value = Math.max(120, Math.floor(entry?.contentRect.height ?? 600));
    });
    observer.observe(element);
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    const redraw = () => {
      height.value = height.value + 0.0001;
    };
    scheme.addEventListener("change", redraw);
    return () => {
      observer.disconnect();
      scheme.removeEventListener("change", redraw);
    };
  }, []);

  useEffect(() => {
    const element = canvas.current;
    const context = element?.getContext("2d");
    if (!element || !context) return;
    const size = { width: element.clientWidth || 96, height: height.value };
    const scale = devicePixelRatio || 1;
    element.width = Math.round(size.width * scale);
    element.height = Math.round(size.height * scale);
    context.setTransform(scale, 0, 0, scale, 0, 0);
    placed.current = placeLayers(layers, size.height);
    drawCore(context, placed.current, size, readColours(element.parentElement ?? element), {
      inWindow: core.isInWindow,
      recalled: core.isRecalled,
      selected: core.selected.value,
      hovered: hovered.value,
      view: view && findSpan(placed.current, view.from, view.to),
    });
  });

  const jumpTo = (layer: Layer) => {
    core.selected.value = layer.id;
    onJump(layer.firstSeq);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const order = [...layers].reverse();
    const at = order.findIndex(({ id }) => id === core.selected.value);
    const layer = order[at];
    const moves: Record<string, number> = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: 10,
      PageUp: -10,
      Home: -order.length,
      End: order.length,
    };
    const step = moves[event.key];
    if (step !== undefined) {
      const next = order[Math.min(order.length - 1, Math.max(0, at + step))];
      core.selected.value = next?.id;
    } else if (event.key === "Enter" && layer) void core.open(layer);
    else if (event.key === " " && layer) jumpTo(layer);
    else if ((event.key === "Backspace" || event.key === "ArrowLeft") && core.opened.value.length > 0) {
      void core.goUp(core.opened.value.length - 1);
    } else return;
    event.preventDefault();
  };
  const pointed = layers.find(({ id }) => id === (hovered.value ?? core.selected.value));
  const findLayer = (event: PointerEvent | MouseEvent) => {
    const top = canvas.current?.getBoundingClientRect().top ?? 0;
    return placed.current[findAt(placed.current, event.clientY - top)]?.layer;
  };
  return (
    <section class="core" aria-label="Core of the conversation">
      <CorePath core={core} />
      <div class="core-body">
        {isText.value ? (
          <CoreTree core={core} layers={layers} onJump={jumpTo} />
        ) : (
          <div class="core-box" ref={box}>
            <div
              class="core-keys"
              role="listbox"
              tabIndex={0}
              aria-label="Layers, newest first. Arrow keys move, Enter opens a layer, Space shows it in the transcript, Backspace goes up."
              aria-activedescendant={core.selected.value === undefined ? undefined : `${listId}-${core.selected.value}`}
              onKeyDown={onKeyDown}
            >
              {[...layers].reverse().map((layer) => (
                // biome-ignore lint/a11y/useFocusableInteractive: the list keeps the focus and names the chosen layer
                <span
                  key={layer.id}
                  id={`${listId}-${layer.id}`}
                  role="option"
                  aria-selected={layer.id === core.selected.value}
                  class="visually-hidden"
                >
                  {describeLayer(layer)}
                </span>
              ))}
              <canvas
                ref={canvas}
                style={{ height: `${Math.floor(height.value)}px` }}
                aria-hidden="true"
                onPointerMove={(event) => {
                  hovered.value = findLayer(event)?.id;
                }}
                onPointerLeave={() => {
                  hovered.value = undefined;
                }}
                onClick={(event) => {
                  const layer = findLayer(event);
                  if (!layer) return;
                  jumpTo(layer);
                  if (layer.kind !== "message") void core.open(layer);
                }}
              />
            </div>
          </div>
        )}
      </div>
      <p class="core-name" aria-live="polite">
        {pointed ? describeLayer(pointed) : describeWhole(core)}
      </p>
      <button
        type="button"
        class="button quiet"
        aria-pressed={isText.value}
        onClick={() => {
          isText.value = !isText.value;
        }}
      >
        {isText.value ? "As a drawing" : "As text"}
      </button>
    </section>
  );
}

function CorePath({ core }: { core: CoreState }) {
  const opened = core.opened.value;
  if (opened.length === 0) return null;
  return (
    <nav class="core-path" aria-label="Opened layers">
      <button type="button" class="chip" onClick={() => void core.goUp(0)}>
        Whole
      </button>
      {opened.map((layer, index) => (
        <button
          key={layer.id}
          type="button"
          class="chip"
          disabled={index === opened.length - 1}
          title={layer.title}
          onClick={() => void core.goUp(index + 1)}
        >
          {layer.kind === "summary" ? `Depth ${layer.depth}` : "Run"}
        </button>
      ))}
    </nav>
  );
}

/** The text twin of the drawing. */
function CoreTree({
  core,
  layers,
  onJump,
}: {
  core: CoreState;
  layers: readonly Layer[];
  onJump: (layer: Layer) => void;
}) {
  return (
    <ol class="plain core-tree">
      {[...layers].reverse().map((layer) => (
        <li key={layer.id} class={core.isInWindow(layer) ? "" : "soft"}>
          <button type="button" onClick={() => onJump(layer)} class={`depth-${Math.min(layer.depth, 4)}`}>
            {describeLayer(layer)}
          </button>
          {layer.kind !== "message" && (
            <button type="button" class="chip" onClick={() => void core.open(layer)} aria-label={`Open ${layer.id}`}>
              Open
            </button>
          )}
        </li>
      ))}
    </ol>
  );
}

function describeWhole(core: CoreState): string {
  const data = core.layers.data.value;
  if (!data) return "";
  return `${count(data.messages, "message")} in ${count(data.layers.length, "layer")}${data.isEstimated ? " (sizes estimated)" : ""}`;
}

function describeLayer(layer: Layer): string {
  const when = formatDay(layer.earliestAt);
  if (layer.kind === "message") return `${layer.title}, ${layer.id}, ${formatNumber(layer.tokens)} tokens, ${when}`;
  const until = formatDay(layer.latestAt);
  const span = when === until ? when : `${when} to ${until}`;
  if (layer.kind === "messages") return `Run of ${count(layer.messages, "message")}, ${span}`;
  return `${layer.title} (summary of ${count(layer.messages, "message")}, depth ${layer.depth}, ${span})`;
}
