import type { Recommendation } from "../recommendation.ts";
import type { ComponentSamples, Series } from "../samples.ts";
import { isResourceCheckpoint, type ResourceCheckpoint, type ResourceTargets } from "./checkpoint.ts";
import { DecayingHistogram } from "./decaying-histogram.ts";
import { confidenceOf, estimate, type Estimate, type History } from "./estimate.ts";
import { addMemory, addOomKill, newPodUsage, type PodUsage } from "./pod-usage.ts";
import {
  CPU_BUCKETS,
  CPU_SAMPLE_WEIGHT,
  EPSILON,
  HALF_LIFE_MS,
  HISTORY_MS,
  MAX_CPU_MILLICORES,
  MAX_MEMORY_BYTES,
  MEMORY_BUCKETS,
  MIN_CPU_MILLICORES,
  MIN_MEMORY_BYTES,
  PEAK_INTERVAL_MS,
  PERCENTILES,
} from "./settings.ts";

const CPU_OPTIONS = { buckets: CPU_BUCKETS, halfLifeMs: HALF_LIFE_MS, epsilon: EPSILON };
const MEMORY_OPTIONS = { buckets: MEMORY_BUCKETS, halfLifeMs: HALF_LIFE_MS, epsilon: EPSILON };

/** Pods in a checkpoint, those with the newest samples. */
const MAX_SAVED_PODS = 16;

/** What a model is created with. */
export interface ResourceModelOptions {
  /** The least memory that is recommended. Default: 250 MiB, as in the vertical pod autoscaler. */
  readonly minMemoryBytes?: number;
}

/** The memory settings of the container in effect while the samples were taken. */
export interface MemorySettings {
  readonly requestBytes?: number;
  /** The user's limit. Estimates after OOM kills and targets do not exceed it. */
  readonly limitBytes?: number;
}

/** What a recommendation states besides the numbers. */
export interface RecommendOptions {
  readonly component: string;
  /** How long it is valid after the newest sample. */
  readonly validForMs: number;
  /** The queries of CPU and memory usage. */
  readonly queries: { readonly cpu: string; readonly memory: string };
  readonly current?: ResourceTargets;
  /** The user's limits. */
  readonly limits?: ResourceTargets;
}

/**
 * Learns the CPU and memory that the container of a component needs, as the vertical pod autoscaler does.
 *
 * Guarantees: a sample counts once, whatever ranges of samples overlap; invalid values are ignored; the state is bounded;
 * after a loss of history the bounds are wide and the target does not fall below the last one until a day was measured.
 */
export class ResourceModel {
  #cpu = new DecayingHistogram(CPU_OPTIONS);
  #memory = new DecayingHistogram(MEMORY_OPTIONS);
  #history: History | undefined;
  #oomKills = 0;
  /** The targets before the loss of history. */
  #lastTargets: ResourceTargets;
  #pods = new Map<string, PodUsage>();
  /** Up to here the samples of pods that were not saved are in the histograms already. */
  #restoredMs: number | undefined;

  readonly #minMemoryBytes: number;

  constructor(lastTargets: ResourceTargets = {}, { minMemoryBytes = MIN_MEMORY_BYTES }: ResourceModelOptions = {}) {
    this.#lastTargets = lastTargets;
    this.#minMemoryBytes = minMemoryBytes;
  }

  /** From what `save` returned. Anything else is a loss of history: the model starts with the last targets as floors. */
  static restore(saved: unknown, lastTargets: ResourceTargets = {}, options: ResourceModelOptions = {}): ResourceModel {
    const model = new ResourceModel(lastTargets, options);
    if (!isResourceCheckpoint(saved)) return model;
    const cpu = DecayingHistogram.load(CPU_OPTIONS, saved.cpu);
    const memory = DecayingHistogram.load(MEMORY_OPTIONS, saved.memory);
    if (cpu === undefined || memory === undefined) return model;
    model.#cpu = cpu;
    model.#memory = memory;
    model.#history = saved.history;
    model.#oomKills = saved.oomKills;
    model.#lastTargets = saved.lastTargets;
    model.#pods = new Map(Object.entries(saved.pods).map(([name, pod]) => [name, { ...pod }]));
    model.#restoredMs = saved.history?.lastMs;
    return model;
  }

  save(): ResourceCheckpoint {
    return {
      version: 1,
      cpu: this.#cpu.save(),
      memory: this.#memory.save(),
      ...(this.#history && { history: this.#history }),
      oomKills: this.#oomKills,
      lastTargets: this.#lastTargets,
      pods: Object.fromEntries(
        [...this.#pods]
          .toSorted(([a, x], [b, y]) => lastSeenMs(y) - lastSeenMs(x) || (a < b ? -1 : 1))
          .slice(0, MAX_SAVED_PODS)
          .map(([name, pod]) => [name, { ...pod }]),
      ),
    };
  }

  /** Adds the samples of a range, which may overlap earlier ranges. */
  observe(pods: ComponentSamples["pods"], memory: MemorySettings = {}): void {
    if (this.#isOutdatedAt(newestCpuMs(pods))) this.#startAgain();
    for (const [name, samples] of Object.entries(pods)) {
      const pod = this.#podOf(name);
      this.#addCpu(pod, samples.cpuMillicores ?? []);
      for (const { atMs, value } of samples.memoryBytes ?? []) {
        if (Number.isFinite(value)) addMemory(pod, this.#memory, atMs, Math.trunc(value));
      }
      this.#addOomKills(pod, samples.oomKills ?? [], memory);
    }
    this.#forgetOldPods();
  }

  /** One recommendation per dimension that was measured. */
  recommend(options: RecommendOptions): Recommendation[] {
    const confidence = this.#confidence();
    const recommendations: Recommendation[] = [];
    if (!this.#cpu.isEmpty()) {
      recommendations.push(
        this.#recommendation(options, "cpu", {
          estimate: this.#estimateCpu(confidence),
          minimum: MIN_CPU_MILLICORES,
          maximum: MAX_CPU_MILLICORES,
          values: percentilesOf(this.#cpu, 1000, "millicores"),
        }),
      );
    }
    if (!this.#memory.isEmpty()) {
      recommendations.push(
        this.#recommendation(options, "memory", {
          estimate: this.#estimateMemory(confidence),
          minimum: this.#minMemoryBytes,
          maximum: MAX_MEMORY_BYTES,
          values: { ...percentilesOf(this.#memory, 1, "bytes"), oom_kills: this.#oomKills },
        }),
      );
    }
    return recommendations;
  }

  #recommendation(
    options: RecommendOptions,
    dimension: "cpu" | "memory",
    from: { estimate: Estimate; minimum: number; maximum: number; values: Readonly<Record<string, number>> },
  ): Recommendation {
    const confidence = this.#confidence();
    const limit = options.limits?.[dimension];
    const lastTarget = confidence < 1 ? (this.#lastTargets[dimension] ?? 0) : 0;
    const cap = (amount: number): number => Math.min(amount, limit ?? from.maximum);
    const target = cap(Math.max(from.estimate.target, lastTarget));
    const floor = floorOf({ target, estimated: from.estimate.target, lastTarget, minimum: from.minimum, dimension });
    const current = options.current?.[dimension];
    const observedAtMs = this.#newestMs();
    return {
      component: options.component,
      dimension,
      target,
      lowerBound: Math.min(cap(from.estimate.lowerBound), target),
      upperBound: Math.max(cap(from.estimate.upperBound), target),
      basis: {
        window: durationText(this.#history),
        query: options.queries[dimension],
        values: { ...from.values, samples: this.#history?.samples ?? 0, ...(limit !== undefined && { limit }) },
        ...(floor !== undefined && { floor }),
      },
      confidence: Math.min(confidence, 1),
      ...(current !== undefined && { current }),
      observedAtMs,
      validUntilMs: observedAtMs + options.validForMs,
    };
  }

  #newestMs(): number {
    return [...this.#pods.values()].reduce(
      (newest, pod) => Math.max(newest, lastSeenMs(pod)),
      this.#history?.lastMs ?? -Infinity,
    );
  }

  #confidence(): number {
    return this.#history ? confidenceOf(this.#history) : 0;
  }

  #estimateCpu(confidence: number): Estimate {
    return estimate(this.#cpu, 1000, confidence, MIN_CPU_MILLICORES);
  }

  #estimateMemory(confidence: number): Estimate {
    return estimate(this.#memory, 1, confidence, this.#minMemoryBytes);
  }

  #addCpu(pod: PodUsage, series: Series): void {
    for (const { atMs, value } of series) {
      if (!(value >= 0) || !Number.isFinite(value) || atMs <= (pod.lastCpuMs ?? -Infinity)) continue;
      this.#cpu.add(Math.trunc(value) / 1000, CPU_SAMPLE_WEIGHT, atMs);
      pod.lastCpuMs = atMs;
      this.#history = {
        firstMs: Math.min(this.#history?.firstMs ?? atMs, atMs),
        lastMs: Math.max(this.#history?.lastMs ?? atMs, atMs),
        samples: (this.#history?.samples ?? 0) + 1,
      };
    }
  }

  /** A kill counts when the number rises: it stays above zero as long as the kill is in the window of the query. */
  #addOomKills(
    pod: PodUsage,
    series: Series,
    { requestBytes = 0, limitBytes = MAX_MEMORY_BYTES }: MemorySettings,
  ): void {
    for (const { atMs, value } of series) {
      if (atMs <= (pod.lastOomMs ?? -Infinity) || !Number.isFinite(value)) continue;
      const kills = Math.max(Math.round(value), 0);
      if (kills > pod.oomKills) {
        this.#oomKills += kills - pod.oomKills;
        addOomKill(pod, this.#memory, { atMs, requestBytes, limitBytes });
      }
      pod.oomKills = kills;
      pod.lastOomMs = atMs;
    }
  }

  #podOf(name: string): PodUsage {
    const known = this.#pods.get(name);
    if (known) return known;
    const created = newPodUsage(this.#restoredMs);
    this.#pods.set(name, created);
    return created;
  }

  #isOutdatedAt(atMs: number): boolean {
    return this.#history !== undefined && atMs - this.#history.lastMs >= HISTORY_MS;
  }

  #forgetOldPods(): void {
    const newestMs = this.#newestMs();
    for (const [name, pod] of this.#pods) {
      if (newestMs - lastSeenMs(pod) > PEAK_INTERVAL_MS) this.#pods.delete(name);
    }
  }

  /** Loses the history and keeps the targets. */
  #startAgain(): void {
    const confidence = this.#confidence();
    this.#lastTargets = {
      ...this.#lastTargets,
      ...(!this.#cpu.isEmpty() && { cpu: this.#estimateCpu(confidence).target }),
      ...(!this.#memory.isEmpty() && { memory: this.#estimateMemory(confidence).target }),
    };
    this.#cpu = new DecayingHistogram(CPU_OPTIONS);
    this.#memory = new DecayingHistogram(MEMORY_OPTIONS);
    this.#history = undefined;
    this.#oomKills = 0;
    this.#pods.clear();
  }
}

/** The floor that set the target, if one did. */
function floorOf(from: {
  dimension: "cpu" | "memory";
  target: number;
  estimated: number;
  lastTarget: number;
  minimum: number;
}): string | undefined {
  if (from.target === from.lastTarget && from.lastTarget > from.estimated) return "last_target";
  return from.target === from.minimum && from.estimated === from.minimum ? `min_${from.dimension}` : undefined;
}

function percentilesOf(usage: DecayingHistogram, unit: number, name: string): Record<string, number> {
  return {
    [`p50_${name}`]: Math.trunc(usage.percentile(PERCENTILES.lowerBound) * unit),
    [`p90_${name}`]: Math.trunc(usage.percentile(PERCENTILES.target) * unit),
    [`p95_${name}`]: Math.trunc(usage.percentile(PERCENTILES.upperBound) * unit),
  };
}

function newestCpuMs(pods: ComponentSamples["pods"]): number {
  return Object.values(pods).reduce(
    (newest, { cpuMillicores }) => Math.max(newest, cpuMillicores?.at(-1)?.atMs ?? -Infinity),
    -Infinity,
  );
}

function lastSeenMs(pod: PodUsage): number {
  return Math.max(pod.lastCpuMs ?? -Infinity, pod.lastMemoryMs ?? -Infinity);
}

/** The length of the history in whole hours, or minutes below two hours. */
function durationText(history: History | undefined): string {
  const minutes = history ? Math.floor((history.lastMs - history.firstMs) / 60_000) : 0;
  return minutes < 120 ? `${minutes}m` : `${Math.floor(minutes / 60)}h`;
}
