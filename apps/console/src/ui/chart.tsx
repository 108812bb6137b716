import { useEffect, useRef } from "react";

export interface ChartPoint {
  readonly atMs: number;
  /** Null is a gap. */
  readonly value: number | null;
}

export interface ChartMark {
  readonly atMs: number;
  readonly label: string;
}

interface ChartProps {
  readonly label: string;
  readonly points: readonly ChartPoint[];
  readonly target?: number | undefined;
  readonly marks?: readonly ChartMark[];
  readonly format: (value: number) => string;
}

const HEIGHT = 150;

/** A line over time with a target line and marks of events. The values are also in the label, for readers without sight. */
export function Chart({ label, points, target, marks = [], format }: ChartProps) {
  const host = useRef<HTMLDivElement>(null);
  const formatter = useRef(format);
  formatter.current = format;
  useEffect(() => {
    let stopped = false;
    let chart: { destroy: () => void } | undefined;
    void import("./uplot.ts").then(({ drawChart }) => {
      if (!stopped && host.current !== null)
        chart = drawChart({
          host: host.current,
          height: HEIGHT,
          points,
          target,
          marks,
          format: (value) => formatter.current(value),
        });
    });
    return () => {
      stopped = true;
      chart?.destroy();
    };
  }, [points, target, marks]);
  const last = points.findLast(({ value }) => value !== null)?.value ?? undefined;
  const text = `${label}: ${last === undefined ? "–" : format(last)}${target === undefined ? "" : ` / ${format(target)}`}`;
  return <div ref={host} role="img" aria-label={text} className="overflow-hidden" style={{ minHeight: HEIGHT }} />;
}
