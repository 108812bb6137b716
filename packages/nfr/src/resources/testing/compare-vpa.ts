import type { HistogramCheckpoint } from "../decaying-histogram.ts";
import { ResourceModel } from "../resource-model.ts";
import { MAX_CPU_MILLICORES, MAX_MEMORY_BYTES } from "../settings.ts";
import type { VpaCase } from "./vpa-cases.ts";

interface Amounts {
  readonly cpu: number;
  readonly memory: number;
}

interface VpaHistogram {
  readonly referenceMs: number;
  readonly totalWeight: number;
  readonly buckets: Readonly<Record<string, number>>;
}

/** What the Go program prints at a step `recommend`. */
export interface VpaRecommendation {
  readonly target: Amounts;
  readonly lowerBound: Amounts;
  readonly upperBound: Amounts;
  readonly sampleCount: number;
  readonly cpuHistogram: VpaHistogram;
  readonly memoryHistogram: VpaHistogram;
}

export interface RecordedVpaCase extends VpaCase {
  readonly recommendations: readonly VpaRecommendation[];
}

/** What is compared, by name. */
type Numbers = Record<string, number>;

/** The numbers of our model at each step `recommend`. */
function replay({ steps }: VpaCase): Numbers[] {
  let model = new ResourceModel();
  const kills = new Map<string, number>();
  const numbers: Numbers[] = [];
  for (const step of steps) {
    if (step.op === "cpu" || step.op === "memory") {
      const series = step.values.map((value, index) => ({ atMs: step.atMs + index * step.stepMs, value }));
      model.observe({ [step.pod]: step.op === "cpu" ? { cpuMillicores: series } : { memoryBytes: series } });
    } else if (step.op === "oom") {
      kills.set(step.pod, (kills.get(step.pod) ?? 0) + 1);
      const oomKills = [{ atMs: step.atMs, value: kills.get(step.pod) ?? 0 }];
      model.observe({ [step.pod]: { oomKills } }, { requestBytes: step.requestBytes });
    } else {
      numbers.push(numbersOf(model));
      // A restart at any time changes nothing.
      model = ResourceModel.restore(JSON.parse(JSON.stringify(model.save())));
    }
  }
  return numbers;
}

function numbersOf(model: ResourceModel): Numbers {
  const saved = model.save();
  const numbers: Numbers = {
    samples: saved.history?.samples ?? 0,
    ...histogramNumbers("cpu", roundWeights(saved.cpu.weights), saved.cpu),
    ...histogramNumbers("memory", roundWeights(saved.memory.weights), saved.memory),
  };
  for (const recommendation of model.recommend({
    component: "f",
    validForMs: 0,
    queries: { cpu: "cpu", memory: "memory" },
  })) {
    const { dimension, target, lowerBound, upperBound } = recommendation;
    Object.assign(numbers, {
      [`${dimension} target`]: target,
      [`${dimension} lower bound`]: lowerBound,
      [`${dimension} upper bound`]: upperBound,
    });
  }
  return numbers;
}

function vpaNumbersOf(vpa: VpaRecommendation): Numbers {
  const amounts = (dimension: "cpu" | "memory", maximum: number, histogram: VpaHistogram): Numbers => {
    if (Object.keys(histogram.buckets).length === 0) return {};
    return {
      [`${dimension} target`]: Math.min(vpa.target[dimension], maximum),
      [`${dimension} lower bound`]: Math.min(vpa.lowerBound[dimension], maximum),
      [`${dimension} upper bound`]: Math.min(vpa.upperBound[dimension], maximum),
    };
  };
  return {
    samples: vpa.sampleCount,
    ...histogramNumbers("cpu", vpa.cpuHistogram.buckets, vpa.cpuHistogram),
    ...histogramNumbers("memory", vpa.memoryHistogram.buckets, vpa.memoryHistogram),
    ...amounts("cpu", MAX_CPU_MILLICORES, vpa.cpuHistogram),
    ...amounts("memory", MAX_MEMORY_BYTES, vpa.memoryHistogram),
  };
}

/** VPA reports weights in ten-thousandths of the largest, without those that round to 0. */
function roundWeights(weights: HistogramCheckpoint["weights"]): Record<string, number> {
  const ratio = 10_000 / Math.max(...Object.values(weights));
  const rounded = Object.entries(weights).map(
    ([bucket, weight]) => [bucket, Math.floor(weight * ratio + 0.5)] as const,
  );
  return Object.fromEntries(rounded.filter(([, weight]) => weight > 0));
}

function histogramNumbers(
  name: string,
  weights: Readonly<Record<string, number>>,
  { referenceMs, totalWeight }: Pick<HistogramCheckpoint, "referenceMs" | "totalWeight">,
): Numbers {
  const buckets = Object.entries(weights).map(([bucket, weight]) => [`${name} bucket ${bucket}`, weight]);
  return { [`${name} reference`]: referenceMs, [`${name} weight`]: totalWeight, ...Object.fromEntries(buckets) };
}

/** Every number in which our model and VPA differ, with the relative difference; missing numbers differ infinitely. */
export function compareWithVpa(recorded: RecordedVpaCase): {
  readonly compared: number;
  readonly differences: Difference[];
} {
  const differences: Difference[] = [];
  let compared = 0;
  const ours = replay(recorded);
  for (const [index, vpa] of recorded.recommendations.entries()) {
    const expected = vpaNumbersOf(vpa);
    const actual = ours[index] ?? {};
    for (const name of new Set([...Object.keys(expected), ...Object.keys(actual)])) {
      compared++;
      const [a, b] = [actual[name] ?? Number.NaN, expected[name] ?? Number.NaN];
      if (a === b) continue;
      const relative = Math.abs(a - b) / Math.max(Math.abs(a), Math.abs(b));
      differences.push({ at: `${recorded.name}, recommendation ${index}, ${name}`, ours: a, vpa: b, relative });
    }
  }
  return { compared, differences };
}

export interface Difference {
  readonly at: string;
  readonly ours: number;
  readonly vpa: number;
  readonly relative: number;
}
