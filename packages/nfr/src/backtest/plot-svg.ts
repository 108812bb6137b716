import { timestamp } from "@oaas/foundation";
import type { Backtest, BacktestPoint } from "./backtest.ts";

const WIDTH = 960;
const LEFT = 64;
const RIGHT = 20;
const TOP = 64;
const PANEL = 180;
const GAP = 44;
const PLOT = WIDTH - LEFT - RIGHT;
const HEIGHT = TOP + 2 * PANEL + GAP + 56;
/** Points per line; more are merged into the extremes of their bucket. */
const MAX_POINTS = 800;

const COLOURS = { load: "#4b5563", recorded: "#9ca3af", decided: "#1d4ed8", violated: "#dc2626" } as const;

/** Plots load, replicas and violations. The file is self-contained and has no scripts. */
export function plotSvg(backtest: Backtest): string {
  const { component, mode, fromMs, toMs, points } = backtest;
  const xOf = (atMs: number): number => LEFT + (PLOT * (atMs - fromMs)) / Math.max(1, toMs - fromMs);
  const lower = TOP + PANEL + GAP;
  const loads = valuesOf(points, ({ requestsPerSecond }) => requestsPerSecond);
  const recorded = valuesOf(points, ({ recordedReplicas }) => recordedReplicas);
  const decided = valuesOf(points, ({ decidedReplicas }) => decidedReplicas);
  const loadScale = scaleTo(loads.map(([, value]) => value));
  const replicaScale = scaleTo([...recorded, ...decided].map(([, value]) => value));
  const how = mode === "recorded" ? "decisions on the recorded samples" : "simulation with the recorded load";
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" font-family="system-ui, sans-serif" font-size="12" fill="#111827">`,
    `<title>Backtest of ${escapeXml(component)}</title>`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#ffffff"/>`,
    text(LEFT, 24, `Backtest of ${component}: ${how}`, 'font-size="16"'),
    legend(mode),
    ...violations(points, toMs).map(
      ([from, to]) =>
        `<rect x="${at(xOf(from))}" y="${TOP}" width="${at(Math.max(1, xOf(to) - xOf(from)))}" height="${lower + PANEL - TOP}" fill="${COLOURS.violated}" fill-opacity="0.15"/>`,
    ),
    axis(TOP, "requests per second", loadScale),
    axis(lower, "replicas", replicaScale),
    line(loads, xOf, (value) => yOf(value, TOP, loadScale.max), COLOURS.load, false),
    line(recorded, xOf, (value) => yOf(value, lower, replicaScale.max), COLOURS.recorded, true),
    line(decided, xOf, (value) => yOf(value, lower, replicaScale.max), COLOURS.decided, true),
    ...timeTicks(fromMs, toMs).map((tickMs) => timeTick(xOf(tickMs), tickMs, lower + PANEL)),
    text(LEFT + PLOT / 2, HEIGHT - 10, "time (UTC)", 'text-anchor="middle"'),
    "</svg>",
    "",
  ]
    .filter((part, index, all) => part !== "" || index === all.length - 1)
    .join("\n");
}

type Values = readonly (readonly [number, number])[];

function valuesOf(points: readonly BacktestPoint[], of: (point: BacktestPoint) => number | undefined): Values {
  return points.flatMap((point) => {
    const value = of(point);
    return value === undefined ? [] : [[point.atMs, value] as const];
  });
}

/** Periods in which a requirement was violated. */
function violations(points: readonly BacktestPoint[], toMs: number): readonly (readonly [number, number])[] {
  const periods: [number, number][] = [];
  for (const [index, { atMs, compliance }] of points.entries()) {
    if (compliance !== "violated") continue;
    const endMs = points[index + 1]?.atMs ?? toMs;
    const last = periods.at(-1);
    if (last?.[1] === atMs) last[1] = endMs;
    else periods.push([atMs, endMs]);
  }
  return periods;
}

interface Scale {
  readonly max: number;
  readonly step: number;
}

/** A scale from zero with round steps. */
function scaleTo(values: readonly number[]): Scale {
  let largest = 0;
  for (const value of values) largest = Math.max(largest, value);
  const raw = (largest === 0 ? 1 : largest) / 4;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * ([1, 2, 5].find((factor) => factor * power >= raw) ?? 10);
  return { step, max: step * Math.max(1, Math.ceil((largest * 1.05) / step)) };
}

function yOf(value: number, top: number, max: number): number {
  return top + PANEL * (1 - value / max);
}

function axis(top: number, label: string, { max, step }: Scale): string {
  const ticks = Array.from({ length: Math.round(max / step) + 1 }, (_, index) => index * step);
  const middle = top + PANEL / 2;
  return [
    ...ticks.map((value) => {
      const y = at(yOf(value, top, max));
      return `<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y}" y2="${y}" stroke="#e5e7eb"/>${text(LEFT - 8, Number(y) + 4, String(Number(value.toPrecision(6))), 'text-anchor="end"')}`;
    }),
    text(18, middle, label, `text-anchor="middle" transform="rotate(-90 18 ${middle})"`),
  ].join("\n");
}

function line(
  values: Values,
  xOf: (atMs: number) => number,
  toY: (value: number) => number,
  colour: string,
  isStep: boolean,
): string {
  if (values.length === 0) return "";
  const path = thin(values).map(([atMs, value], index) => {
    const [x, y] = [at(xOf(atMs)), at(toY(value))];
    if (index === 0) return `M${x} ${y}`;
    return isStep ? `H${x}V${y}` : `L${x} ${y}`;
  });
  return `<path d="${path.join("")}" fill="none" stroke="${colour}" stroke-width="1.5"/>`;
}

/** Keeps the smallest and the largest value of each bucket, so that peaks stay visible. */
function thin(values: Values): Values {
  if (values.length <= MAX_POINTS) return values;
  const size = Math.ceil((2 * values.length) / MAX_POINTS);
  const kept: (readonly [number, number])[] = [];
  for (let from = 0; from < values.length; from += size) {
    const bucket = values.slice(from, from + size);
    const [first = [0, 0] as const] = bucket;
    let [low, high] = [first, first];
    for (const one of bucket) {
      if (one[1] < low[1]) low = one;
      if (one[1] > high[1]) high = one;
    }
    kept.push(...(low === high ? [low] : low[0] < high[0] ? [low, high] : [high, low]));
  }
  return kept;
}

const TICK_STEPS_MS = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440, 2880, 7200, 14_400].map(
  (minutes) => minutes * 60_000,
);

/** Round times, at most eight. */
function timeTicks(fromMs: number, toMs: number): readonly number[] {
  const largest = TICK_STEPS_MS.at(-1) ?? 1;
  const step =
    TICK_STEPS_MS.find((ms) => (toMs - fromMs) / ms <= 8) ?? largest * Math.ceil((toMs - fromMs) / largest / 8);
  const ticks: number[] = [];
  for (let tickMs = Math.ceil(fromMs / step) * step; tickMs <= toMs; tickMs += step) ticks.push(tickMs);
  return ticks;
}

function timeTick(x: number, atMs: number, bottom: number): string {
  const time = timestamp(atMs);
  return `<line x1="${at(x)}" x2="${at(x)}" y1="${bottom}" y2="${bottom + 5}" stroke="#111827"/>${text(x, bottom + 18, `${time.slice(5, 10)} ${time.slice(11, 16)}`, 'text-anchor="middle"')}`;
}

function legend(mode: Backtest["mode"]): string {
  const entries = [
    [COLOURS.load, "load"],
    [COLOURS.recorded, "replicas recorded"],
    [COLOURS.decided, "replicas decided"],
    [COLOURS.violated, mode === "recorded" ? "requirement violated, as recorded" : "requirement violated"],
  ] as const;
  return entries
    .map(([colour, label], index) => {
      const x = LEFT + 170 * index;
      return `<rect x="${x}" y="38" width="12" height="12" fill="${colour}"/>${text(x + 18, 48, label)}`;
    })
    .join("\n");
}

function text(x: number, y: number, content: string, attributes = ""): string {
  return `<text x="${at(x)}" y="${at(y)}"${attributes === "" ? "" : ` ${attributes}`}>${escapeXml(content)}</text>`;
}

/** A coordinate with one decimal. */
function at(value: number): string {
  return String(Math.round(value * 10) / 10);
}

/** Escapes text, and drops characters that XML does not allow. */
function escapeXml(content: string): string {
  return content
    .replaceAll(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD]/g, "")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
