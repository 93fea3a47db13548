/** One line of a plot. */
export interface PlotSeries {
  name: string;
  /** In any order; points whose coordinates cannot be drawn on the scales are left out and reported. */
  points: readonly { x: number; y: number }[];
}

export interface PlotOptions {
  title: string;
  xLabel: string;
  yLabel: string;
  /** Default: `linear`. A `log` scale has no place for values that are not above 0. */
  xScale?: PlotScale;
  yScale?: PlotScale;
  width?: number;
  height?: number;
}

export type PlotScale = "linear" | "log";

const margin = { top: 44, right: 250, bottom: 52, left: 68 };
const ticksWanted = 6;
const legendLineHeight = 18;
/** Distinguishable in light and dark, and with most colour blindness. */
const colours = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8a8a00", "#7f7f7f"];
const dashes = ["", "6 3", "2 3", "8 3 2 3"];

/** Draws lines as an SVG document. The same input gives the same text. */
export function plotLines(series: readonly PlotSeries[], options: PlotOptions): string {
  const { width = 910, height = Math.max(440, margin.top + margin.bottom + legendLineHeight * series.length) } =
    options;
  const drawable = series.map(({ name, points }) => ({
    name,
    points: points.filter((point) => canPlace(point.x, options.xScale) && canPlace(point.y, options.yScale)),
  }));
  const leftOut = countPoints(series) - countPoints(drawable);
  const all = drawable.flatMap(({ points }) => points);
  const x = createAxis(
    all.map((point) => point.x),
    options.xScale ?? "linear",
    [margin.left, width - margin.right],
  );
  const y = createAxis(
    all.map((point) => point.y),
    options.yScale ?? "linear",
    [height - margin.bottom, margin.top],
  );
  const [left, right, top, bottom] = [margin.left, width - margin.right, margin.top, height - margin.bottom];
  const grid = [
    ...x.ticks.map((tick) => line(x.place(tick), top, x.place(tick), bottom)),
    ...y.ticks.map((tick) => line(left, y.place(tick), right, y.place(tick))),
  ];
  const labels = [
    ...x.ticks.map((tick) => label(x.place(tick), bottom + 18, "middle", formatTick(tick))),
    ...y.ticks.map((tick) => label(left - 8, y.place(tick) + 4, "end", formatTick(tick))),
    label((left + right) / 2, height - 12, "middle", options.xLabel),
    `<text transform="translate(16 ${(top + bottom) / 2}) rotate(-90)" text-anchor="middle">${escapeXml(options.yLabel)}</text>`,
    `<text x="${left}" y="24" font-size="15" font-weight="600">${escapeXml(options.title)}</text>`,
    ...(leftOut === 0
      ? []
      : [label(right, 24, "end", `${leftOut} ${leftOut === 1 ? "point is" : "points are"} not on these scales`)]),
  ];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="system-ui, sans-serif" font-size="12" role="img" aria-label="${escapeXml(options.title)}">`,
    "<style>svg{background:#fff;color:#222}text{fill:currentColor}.grid{stroke:#ddd}@media(prefers-color-scheme:dark){svg{background:#111;color:#ddd}.grid{stroke:#333}}</style>",
    `<g class="grid">${grid.join("")}</g>`,
    `<rect x="${left}" y="${top}" width="${right - left}" height="${bottom - top}" fill="none" stroke="currentColor"/>`,
    ...labels,
    ...drawable.map((one, index) => drawSeries(one, index, x.place, y.place)),
    ...drawable.map((one, index) => drawLegend(one.name, index, right + 14, top + 8 + index * legendLineHeight)),
    "</svg>",
    "",
  ].join("\n");
}

interface Axis {
  ticks: number[];
  place(value: number): number;
}

function createAxis(values: readonly number[], scale: PlotScale, [from, to]: readonly [number, number]): Axis {
  const isLog = scale === "log";
  const given = values.length > 0 ? [Math.min(...values), Math.max(...values)] : isLog ? [1, 10] : [0, 1];
  const ticks = isLog ? listLogTicks(given[0] ?? 1, given[1] ?? 10) : listLinearTicks(given[0] ?? 0, given[1] ?? 1);
  const convert = isLog ? Math.log10 : (value: number) => value;
  const [low, high] = [convert(ticks[0] ?? 0), convert(ticks.at(-1) ?? 1)];
  return { ticks, place: (value) => round(from + ((convert(value) - low) / (high - low)) * (to - from)) };
}

/** Powers of ten around the values; with halves between them where there are few. */
function listLogTicks(low: number, high: number): number[] {
  const first = Math.floor(Math.log10(low));
  const last = Math.max(first + 1, Math.ceil(Math.log10(high)));
  const steps = last - first <= 3 ? [1, 2, 5] : [1];
  const ticks: number[] = [];
  for (let power = first; power < last; power += 1) for (const step of steps) ticks.push(step * 10 ** power);
  return [...ticks, 10 ** last];
}

/** Round numbers from 0, or from below the smallest value when one is negative. */
function listLinearTicks(low: number, high: number): number[] {
  const [start, end] = [Math.min(0, low), Math.max(high, Math.min(0, low) + Number.MIN_VALUE)];
  const rough = (end - start) / ticksWanted || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 2.5, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power;
  const ticks: number[] = [];
  for (let index = Math.floor(start / step); ; index += 1) {
    ticks.push(Number((index * step).toPrecision(12)));
    if (index * step >= end && ticks.length > 1) return ticks;
  }
}

function drawSeries(
  { points }: PlotSeries,
  index: number,
  x: (value: number) => number,
  y: (value: number) => number,
): string {
  const ordered = points.toSorted((a, b) => a.x - b.x);
  const colour = colours[index % colours.length];
  const path = ordered.map((point) => `${x(point.x)},${y(point.y)}`).join(" ");
  const dots = ordered.map((point) => `<circle cx="${x(point.x)}" cy="${y(point.y)}" r="3" fill="${colour}"/>`);
  return `<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="2"${formatDash(index)}/>${dots.join("")}`;
}

function drawLegend(name: string, index: number, x: number, y: number): string {
  const colour = colours[index % colours.length];
  const sample = `<line x1="${x}" y1="${y}" x2="${x + 22}" y2="${y}" stroke="${colour}" stroke-width="2"${formatDash(index)}/>`;
  return sample + label(x + 28, y + 4, "start", name);
}

/** Lines that share a colour differ by their dashes. */
function formatDash(index: number): string {
  const dash = dashes[Math.floor(index / colours.length) % dashes.length];
  return dash ? ` stroke-dasharray="${dash}"` : "";
}

function canPlace(value: number, scale: PlotScale | undefined): boolean {
  return Number.isFinite(value) && (scale !== "log" || value > 0);
}

function countPoints(series: readonly PlotSeries[]): number {
  return series.reduce((sum, one) => sum + one.points.length, 0);
}

function line(x1: number, y1: number, x2: number, y2: number): string {
  return `<line x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}"/>`;
}

function label(x: number, y: number, anchor: string, text: string): string {
  return `<text x="${x}" y="${y}" text-anchor="${anchor}">${escapeXml(text)}</text>`;
}

function formatTick(value: number): string {
  return Math.abs(value) >= 1 || value === 0
    ? value.toLocaleString("en-US", { maximumFractionDigits: 2 })
    : String(Number(value.toPrecision(3)));
}

function escapeXml(text: string): string {
  const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;" };
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? character);
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
