import UPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { ChartMark, ChartPoint } from "./chart.tsx";

interface Options {
  readonly host: HTMLElement;
  readonly height: number;
  readonly points: readonly ChartPoint[];
  readonly target: number | undefined;
  readonly marks: readonly ChartMark[];
  readonly format: (value: number) => string;
}

/** A few points do not fill the width. */
const MIN_WINDOW_SECONDS = 120;

/** Draws with the colours of the theme; a change of the theme or of the width draws again. */
export function drawChart({ host, height, points, target, marks, format }: Options): { destroy: () => void } {
  let plot: UPlot | undefined;
  const draw = (): void => {
    plot?.destroy();
    const ink = colourOf("--ink-3");
    const line = colourOf("--line");
    const times = points.map(({ atMs }) => atMs / 1000);
    const values = points.map(({ value }) => value);
    const series: UPlot.Series[] = [
      {},
      { stroke: colourOf("--accent"), width: 1.75, points: { show: points.length < 3 } },
    ];
    const data: (number | null)[][] = [times, values];
    if (target !== undefined) {
      series.push({ stroke: colourOf("--bad"), width: 1, dash: [5, 4], points: { show: false } });
      data.push(times.map(() => target));
    }
    const axis = {
      stroke: ink,
      grid: { stroke: line, width: 1 },
      ticks: { stroke: line, width: 1 },
      font: "11px sans-serif",
    };
    const drawMarks = (chart: UPlot): void => {
      const { ctx, bbox } = chart;
      ctx.save();
      ctx.strokeStyle = colourOf("--warn");
      ctx.setLineDash([2, 3]);
      for (const { atMs } of marks) {
        const x = chart.valToPos(atMs / 1000, "x", true);
        if (x < bbox.left || x > bbox.left + bbox.width) continue;
        ctx.beginPath();
        ctx.moveTo(x, bbox.top);
        ctx.lineTo(x, bbox.top + bbox.height);
        ctx.stroke();
      }
      ctx.restore();
    };
    plot = new UPlot(
      {
        width: Math.max(host.clientWidth, 120),
        height,
        legend: { show: false },
        cursor: { y: false },
        scales: {
          x: { range: (_, min, max) => [Math.min(min, max - MIN_WINDOW_SECONDS), max] },
          y: { range: (_, min, max) => rangeOf(min, max) },
        },
        axes: [axis, { ...axis, size: 64, values: (_, ticks) => ticks.map(format) }],
        series,
        hooks: { draw: [drawMarks] },
      },
      data as UPlot.AlignedData,
      host,
    );
  };
  const probe = document.createElement("span");
  probe.hidden = true;
  host.append(probe);
  /** `light-dark()` resolves only in a used value. */
  const colourOf = (name: string): string => {
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color;
  };
  draw();
  const resize = new ResizeObserver(() => plot?.setSize({ width: Math.max(host.clientWidth, 120), height }));
  resize.observe(host);
  const theme = new MutationObserver(draw);
  theme.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  return {
    destroy: () => {
      resize.disconnect();
      theme.disconnect();
      plot?.destroy();
      probe.remove();
    },
  };
}

/** A flat line is in the middle, and small noise does not fill the height. */
function rangeOf(min: number, max: number): [number, number] {
  const size = Math.max(Math.abs(min), Math.abs(max), 1e-9);
  const margin = Math.max((max - min) * 0.15, size * 0.05);
  return [min - margin < 0 && min >= 0 ? 0 : min - margin, max + margin];
}
