/** Multiples of a minute, so that samples fall on the ends of ranges. */
export const START_MS = Math.floor((Date.now() - 7_200_000) / 60_000) * 60_000;
export const END_MS = START_MS + 1_800_000;
const SCRAPE_MS = 15_000;

type Labels = Readonly<Record<string, string>>;

interface Pattern {
  readonly labels: Labels;
  /** Undefined is a gap. */
  readonly value: (step: number) => number | undefined;
  /** Moves the samples off the multiples of a second. */
  readonly shiftMs?: number;
}

function build({ labels, value, shiftMs = 0 }: Pattern): {
  labels: Labels;
  samples: { atMs: number; value: number }[];
} {
  const samples = [];
  for (let step = 0; START_MS + step * SCRAPE_MS <= END_MS; step += 1) {
    const measured = value(step);
    if (measured !== undefined) samples.push({ atMs: START_MS + step * SCRAPE_MS + shiftMs, value: measured });
  }
  return { labels, samples };
}

const counters: readonly Pattern[] = ["a-1", "a-2", "b-1"].flatMap((pod, index) =>
  ["200", "500"].map((code, other): Pattern => {
    const perStep = (index + 1) * (other === 0 ? 10.5 : 0.25);
    return {
      labels: { __name__: "requests_total", pod, code, job: "web" },
      // Restarts at different times; the third pod starts late and has gaps.
      value: (step) => {
        if (index === 2 && (step < 20 || step % 7 === 3 || (step > 60 && step < 75))) return undefined;
        return index === 1 ? (step % 50) * perStep : step * perStep + (index === 2 ? 0 : 1000);
      },
      shiftMs: index * 317,
    };
  }),
);

const gauges: readonly Pattern[] = [
  { labels: { __name__: "temperature", room: "north" }, value: (step) => 20 + Math.sin(step / 5) * 7 },
  {
    labels: { __name__: "temperature", room: "south" },
    value: (step) => (step % 11 === 0 ? Number.NaN : 25 - step / 9),
  },
  {
    labels: { __name__: "temperature", room: "attic" },
    value: (step) => (step === 40 ? Infinity : step % 13),
    shiftMs: 1,
  },
  { labels: { __name__: "temperature", room: "", floor: "0" }, value: () => -3 },
  ...["a-1", "a-2", "b-1"].map((pod, index): Pattern => ({
    labels: { __name__: "memory_bytes", pod, node: `node-${index % 2}` },
    value: (step) => (step > 100 ? undefined : 1e8 * (index + 1) + step * 12_345),
  })),
  ...["node-0", "node-1"].map((node, index): Pattern => ({
    labels: { __name__: "node_info", node, zone: `zone-${index}`, kernel: "6.1" },
    value: () => 1,
  })),
];

/** Latencies: each pod has buckets that fill at different speeds. */
const buckets: readonly Pattern[] = ["a-1", "b-1"].flatMap((pod, index) =>
  [0.05, 0.1, 0.5, 1, Infinity].map((bound, place): Pattern => ({
    labels: { __name__: "latency_seconds_bucket", pod, le: bound === Infinity ? "+Inf" : String(bound) },
    value: (step) => Math.floor(step * (place + 1) * (index + 1) * 1.7),
  })),
);

export const series = [...counters, ...gauges, ...buckets].map((pattern) => {
  const { room, ...labels } = pattern.labels;
  return build({ ...pattern, labels: room === "" || room === undefined ? labels : { ...labels, room } });
});
