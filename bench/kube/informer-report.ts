import type { BenchReport, Measurement, Ratio } from "../harness.ts";
import { median } from "./run-client-program.ts";

/** One cache sync in a new process. */
export interface Synced {
  readonly objects: number;
  readonly ms: number;
  readonly cpuMs: number;
  /** Growth of the live heap. */
  readonly heapBytes: number;
  /** Growth of resident memory. */
  readonly rssBytes: number;
  readonly peakRssBytes: number;
}

/** One replay of a backlog of changes. */
export interface Replayed {
  readonly events: number;
  readonly ms: number;
  readonly cpuMs: number;
}

export interface Results {
  readonly name: string;
  readonly synced: readonly Synced[];
  readonly replayed: readonly Replayed[];
}

interface Row {
  readonly name: string;
  readonly unit: string;
  readonly note?: string;
  readonly better: "more" | "less";
  /** False for information only: the growth of resident memory depends on free memory of the process. */
  readonly compared: boolean;
  value(results: Results): number;
}

/** Compares the three programs. In every ratio, higher is better for us. */
export function informerReport(of: {
  readonly title: string;
  readonly objects: number;
  readonly mine: Results;
  readonly clientGo: Results;
  readonly clientNode: Results;
}): BenchReport {
  const rows = rowsFor(of.objects);
  const compared = rows.filter((row) => row.compared);
  return {
    title: of.title,
    measurements: [of.mine, of.clientGo, of.clientNode].flatMap((results) =>
      rows.map((row): Measurement => {
        const { unit, note } = row;
        const value = row.value(results);
        return { name: `${results.name}: ${row.name}`, value, unit, ...(note === undefined ? {} : { note }) };
      }),
    ),
    ratios: [
      ...compared.map((row) => ratioOf(row, of.mine, of.clientNode, { floor: 1 })),
      ...compared.map((row) => ratioOf(row, of.mine, of.clientGo, row.name === HEAP ? { floor: 0.67 } : {})),
    ],
  };
}

const HEAP = "live memory per object";

function rowsFor(objects: number): readonly Row[] {
  const synced = (value: (result: Synced) => number) => (results: Results) => median(results.synced.map(value));
  const replayed = (value: (result: Replayed) => number) => (results: Results) => median(results.replayed.map(value));
  return [
    { name: "time to synced", unit: "ms", better: "less", compared: true, value: synced(({ ms }) => ms) },
    {
      name: "CPU time to synced",
      unit: "ms",
      better: "less",
      compared: true,
      value: synced(({ cpuMs }) => cpuMs),
    },
    {
      name: HEAP,
      unit: "bytes",
      note: "growth of the heap after a collection",
      better: "less",
      compared: true,
      value: synced(({ heapBytes }) => heapBytes / objects),
    },
    {
      name: "resident memory per object",
      unit: "bytes",
      note: "growth, with what the collector keeps for itself",
      better: "less",
      compared: false,
      value: synced(({ rssBytes }) => rssBytes / objects),
    },
    {
      name: "peak memory",
      unit: "MiB",
      note: "resident, whole process",
      better: "less",
      compared: true,
      value: synced(({ peakRssBytes }) => peakRssBytes / 2 ** 20),
    },
    {
      name: "events",
      unit: "per second",
      better: "more",
      compared: true,
      value: replayed(({ events, ms }) => (events / ms) * 1000),
    },
    {
      name: "events per second of CPU time",
      unit: "per second",
      better: "more",
      compared: true,
      value: replayed(({ events, cpuMs }) => (events / cpuMs) * 1000),
    },
  ];
}

function ratioOf(row: Row, mine: Results, theirs: Results, bound: { readonly floor?: number }): Ratio {
  const [above, below] = row.better === "more" ? [mine, theirs] : [theirs, mine];
  return {
    name: `${row.name}, ${above.name} / ${below.name}`,
    value: row.value(above) / row.value(below),
    ...bound,
    explains: "above 1 means that ours is better",
  };
}
