/** Charts, loaded when a page has one. */
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { formatCompact } from "./format.ts";

function resolveColour(element: Element, name: string): string {
  const probe = document.createElement("span");
  probe.style.color = `var(${name})`;
  element.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

function observe(box: HTMLElement, chart: uPlot, height: number): () => void {
  const observer = new ResizeObserver(() => chart.setSize({ width: box.clientWidth, height }));
  observer.observe(box);
  return () => {
    observer.disconnect();
    chart.destroy();
  };
}

const axisFont = "12px system-ui, sans-serif";

/** Two series of a day, one on the other. */
export function drawBars(
  box: HTMLElement,
  days: readonly { day: string; input: number; output: number }[],
): () => void {
  const height = 180;
  const [ink, line] = [resolveColour(box, "--ink-soft"), resolveColour(box, "--line")];
  const bars = uPlot.paths.bars?.({ size: [0.7, 40] });
  const axis = { stroke: ink, font: axisFont, grid: { stroke: line, width: 1 }, ticks: { show: false } };
  const series = (label: string, colour: string): uPlot.Series => ({
    label,
    fill: resolveColour(box, colour),
    stroke: resolveColour(box, colour),
    width: 0,
    points: { show: false },
    ...(bars === undefined ? {} : { paths: bars }),
  });
  const chart = new uPlot(
    {
      width: box.clientWidth || 400,
      height,
      legend: { show: true, live: false },
      cursor: { show: false },
      scales: { y: { range: (_, __, max) => [0, Math.max(1, max * 1.1)] } },
      axes: [
        { ...axis, grid: { show: false } },
        { ...axis, size: 56, values: (_, ticks) => ticks.map(formatCompact) },
      ],
      series: [{}, series("read and written", "--layer-0"), series("read", "--layer-2")],
    },
    [
      days.map(({ day }) => Date.parse(day) / 1000),
      days.map(({ input, output }) => input + output),
      days.map(({ input }) => input),
    ],
    box,
  );
  return observe(box, chart, height);
}

/** A line that falls with time, and a mark for today. */
export function drawCurve(
  box: HTMLElement,
  points: readonly { time: number; worth: number }[],
  today: number,
): () => void {
  const height = 160;
  const [ink, line, accent] = ["--ink-soft", "--line", "--accent"].map((name) => resolveColour(box, name)) as [
    string,
    string,
    string,
  ];
  const axis = { stroke: ink, font: axisFont, grid: { stroke: line, width: 1 }, ticks: { show: false } };
  const chart = new uPlot(
    {
      width: box.clientWidth || 400,
      height,
      legend: { show: false },
      cursor: { show: false },
      scales: { y: { range: [0, 1] } },
      axes: [
        { ...axis, grid: { show: false } },
        { ...axis, size: 40 },
      ],
      series: [{}, { stroke: accent, width: 2, points: { show: false } }],
      hooks: {
        draw: [
          (plot) => {
            const x = plot.valToPos(today / 1000, "x", true);
            const { ctx, bbox } = plot;
            ctx.save();
            ctx.strokeStyle = ink;
            ctx.setLineDash([4, 4]);
            ctx.beginPath();
            ctx.moveTo(x, bbox.top);
            ctx.lineTo(x, bbox.top + bbox.height);
            ctx.stroke();
            ctx.restore();
          },
        ],
      },
    },
    [points.map(({ time }) => time / 1000), points.map(({ worth }) => worth)],
    box,
  );
  return observe(box, chart, height);
}
