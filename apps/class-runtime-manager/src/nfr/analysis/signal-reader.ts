import { Fault, sleep, unavailable, type Ambient } from "@oaas/foundation";
import { type ComponentSamples, type PodSamples, type Series, type Signal } from "@oaas/nfr";
import type { RequestSeries } from "@oaas/nfr/analyzer";
import { assignSeries, fillTemplate, type AssignedSignal, type ComponentTarget } from "@oaas/nfr/queries";
import type { Logger } from "@oaas/observability";
import type { QueryResult } from "@oaas/prometheus-client";
import { SampleStore } from "../components/sample-store.ts";
import type { MetricsProvider } from "./metrics-provider.ts";
import { groupTargets, templateFor, type ClusterQueries, type QueryGroup } from "./query-groups.ts";
import type { AnalyzerMetrics } from "./telemetry.ts";

export interface SignalReaderOptions extends ClusterQueries {
  readonly provider: MetricsProvider;
  readonly ambient: Ambient;
  readonly logger: Logger;
  readonly metrics: AnalyzerMetrics;
  readonly rangeMs: number;
  readonly stepMs: number;
  readonly rateWindowMs: number;
}

/** Which signals could be read. */
export interface ReadOutcome {
  /** Signals of a component whose last query failed, with the first fault of the outage. */
  failuresOf(target: ComponentTarget | undefined): ReadonlyMap<Signal, Outage>;
}

export interface Outage {
  readonly fault: Fault;
  /** When the signal was read last; absent when it never was. */
  readonly lastReadMs?: number;
}

/** The times of one query. */
interface FetchRange {
  readonly startMs: number;
  readonly endMs: number;
  readonly stepMs: number;
  /** Default: the timeout of the provider. */
  readonly deadlineMs?: number;
}

/** Samples of the last steps are fetched again: they change while samples arrive. */
const OVERLAP_STEPS = 2;

const HISTORY_MS = 3 * 24 * 3_600_000;
const HISTORY_STEP_MS = 5 * 60_000;
/** A day of samples of every minute gives full confidence in the sizes of containers. */
const USAGE_MS = 24 * 3_600_000;
const USAGE_STEP_MS = 60_000;
const HISTORY_SIGNALS = ["requests_per_second", "errors_per_second", "slow_requests_per_second"] as const;
type HistorySignal = (typeof HISTORY_SIGNALS)[number];
/** Days of samples take longer than minutes. */
const HISTORY_DEADLINE_MS = 30_000;
/** Bounds the memory and the time of reading history after a start. */
const MAX_HISTORY_SAMPLES = 1_000_000;
const MAX_RESPONSE_SAMPLES = 250_000;

/** What is known of the query of a group. */
interface QueryState {
  /** The end of the last range that was stored. */
  readUntilMs?: number;
  /** Series of the last response, to size the queries of history. */
  series: number;
}

/**
 * Reads the signals of all components: one range query per signal and tick, whatever the number of classes, and only
 * what is new since the last one. Environments with own queries add one query for each that differs.
 *
 * *Guarantees*: a failed or partial query changes no stored sample; the others are stored. The query of an environment
 * affects its classes only.
 */
export class SignalReader {
  readonly #options: SignalReaderOptions;
  readonly #store = new SampleStore();
  /** By signal and template. */
  readonly #queries = new Map<string, QueryState>();
  /** The first failure comes first: it has the cause. */
  readonly #outages = new Map<string, { readonly group: QueryGroup; readonly outage: Outage }>();

  constructor(options: SignalReaderOptions) {
    this.#options = options;
  }

  /** Forgets everything, at the start of a term of leadership. */
  clear(): void {
    this.#store.clear();
    this.#queries.clear();
    this.#outages.clear();
  }

  samplesOf(key: string): ReturnType<SampleStore["samplesOf"]> {
    return this.#store.samplesOf(key);
  }

  /** Reads all signals of the components. */
  async read(targets: readonly ComponentTarget[], signal: AbortSignal): Promise<ReadOutcome> {
    this.#store.retain(new Set(targets.map(({ key }) => key)));
    const groups = groupTargets(targets, this.#options).filter(
      ({ signal: name, hasLatencyRequirement }) => name !== "slow_requests_per_second" || hasLatencyRequirement,
    );
    const used = new Set(groups.map(queryKey));
    for (const key of this.#queries.keys()) if (!used.has(key)) this.#queries.delete(key);
    for (const key of this.#outages.keys()) if (!used.has(key)) this.#outages.delete(key);
    if (groups.length > 0 && (await this.#isAnswering(groups, signal))) {
      const bySignal = Map.groupBy(groups, (group) => group.signal);
      await Promise.all([...bySignal.values()].map((each) => this.#readGroups(each, signal)));
    }
    return { failuresOf: (target) => this.#failuresOf(target) };
  }

  #failuresOf(target: ComponentTarget | undefined): ReadonlyMap<Signal, Outage> {
    const failures = new Map<Signal, Outage>();
    for (const { group, outage } of this.#outages.values()) {
      const { signal, template } = group;
      if (templateFor(signal, target, this.#options) === template) failures.set(signal, outage);
    }
    return failures;
  }

  /** After failures one health check decides, instead of a failure of every query. */
  async #isAnswering(groups: readonly QueryGroup[], signal: AbortSignal): Promise<boolean> {
    const { provider } = this.#options;
    if (provider.breaker === "closed") return true;
    const health = await provider.healthCheck({ signal });
    if (!health.isHealthy) for (const group of groups) this.#fail(group, unavailable("Prometheus", health.reason));
    return health.isHealthy;
  }

  async #readGroups(groups: readonly QueryGroup[], signal: AbortSignal): Promise<void> {
    for (const group of groups) await this.#readGroup(group, signal);
  }

  async #readGroup(group: QueryGroup, signal: AbortSignal): Promise<void> {
    const { ambient, rangeMs, stepMs } = this.#options;
    const state = this.#stateOf(group);
    const endMs = Math.floor(ambient.clock.now() / stepMs) * stepMs;
    const last = state.readUntilMs ?? Number.NEGATIVE_INFINITY;
    const startMs = Math.max(endMs - rangeMs, Math.min(endMs, last - OVERLAP_STEPS * stepMs));
    try {
      const fetched = await this.#query(group, { startMs, endMs, stepMs }, signal);
      this.#store.add(group.signal, fetched, { fromMs: startMs, keepFromMs: endMs - rangeMs, covered: group.keys });
      state.readUntilMs = endMs;
      this.#outages.delete(queryKey(group));
    } catch (thrown) {
      if (!signal.aborted) this.#fail(group, Fault.from(thrown));
    }
  }

  #stateOf(group: QueryGroup): QueryState {
    const key = queryKey(group);
    const state = this.#queries.get(key) ?? { series: 0 };
    this.#queries.set(key, state);
    return state;
  }

  async #query(
    group: QueryGroup,
    { deadlineMs, ...range }: FetchRange,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, AssignedSignal>> {
    const { provider, rateWindowMs, metrics, ambient } = this.#options;
    const { signal: name, template, index, chunks } = group;
    const all = new Map<string, AssignedSignal>();
    let count = 0;
    for (const namespaces of chunks) {
      const windowMs = Math.max(rateWindowMs, range.stepMs);
      const expression = fillTemplate(template, { namespaces, windowMs });
      const startedMs = ambient.clock.monotonic();
      const result = await provider.queryRange(
        { expression, ...range },
        { signal, ...(deadlineMs === undefined ? {} : { deadlineMs }) },
      );
      metrics.queryDuration.observe((ambient.clock.monotonic() - startedMs) / 1000, { signal: name });
      if (result.isPartial) throw partialAnswer(result);
      // Parsing and assigning the series of a thousand classes each take long enough for one turn of the event loop.
      await sleep(ambient.timers, 0, signal);
      this.#reportOddities(name, result);
      count += result.series.length;
      for (const [key, value] of assignSeries(index, name, result.series).signals) all.set(key, value);
    }
    this.#stateOf(group).series = count;
    return all;
  }

  #reportOddities(name: Signal, { duplicates, warnings }: QueryResult): void {
    const { logger } = this.#options;
    if (duplicates.length > 0) logger.warn("ignored duplicate series", { signal: name, series: duplicates });
    if (warnings.length > 0) logger.debug("query has warnings", { signal: name, warnings });
  }

  #fail(group: QueryGroup, fault: Fault): void {
    const { logger, metrics } = this.#options;
    const { signal, chunks } = group;
    metrics.queryErrors.add(1, { signal, kind: fault.kind });
    const key = queryKey(group);
    if (this.#outages.has(key)) return;
    logger.warn("query signal failed; keeping the last samples", { signal, namespaces: chunks.flat().length, fault });
    const lastReadMs = this.#queries.get(key)?.readUntilMs;
    this.#outages.set(key, { group, outage: { fault, ...(lastReadMs === undefined ? {} : { lastReadMs }) } });
  }

  /**
   * Reads requests, errors and slow requests of up to three days, oldest first, to rebuild error budgets after a start. A
   * large cluster gets a shorter history, and a failure a part of it: budgets of long windows are then unknown.
   */
  async readHistory(
    targets: readonly ComponentTarget[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, RequestSeries>> {
    const { clock } = this.#options.ambient;
    const endMs = Math.floor(clock.now() / HISTORY_STEP_MS) * HISTORY_STEP_MS;
    const budget = Math.floor(MAX_HISTORY_SAMPLES / (HISTORY_SIGNALS.length * Math.max(1, targets.length)));
    const startMs = endMs - Math.min(HISTORY_MS, budget * HISTORY_STEP_MS);
    const histories = new Map<string, Partial<Record<HistorySignal, Series>>>();
    for (const group of groupTargets(targets, this.#options)) {
      const name = HISTORY_SIGNALS.find((each) => each === group.signal);
      if (name === undefined) continue;
      const keep = (key: string, { total }: AssignedSignal): void => {
        const known = histories.get(key) ?? {};
        histories.set(key, { ...known, [name]: [...(known[name] ?? []), ...total] });
      };
      await this.#readSlices([group], { startMs, endMs, stepMs: HISTORY_STEP_MS }, signal, ([fetched]) => {
        for (const [key, assigned] of fetched ?? []) keep(key, assigned);
      });
    }
    return histories;
  }

  /**
   * Reads the CPU and memory of each pod of the last day, oldest first and in parts, to rebuild the sizes of containers
   * after a start. A large cluster gets a shorter history, and a failure a part of it.
   */
  async readUsage(
    targets: readonly ComponentTarget[],
    onPart: (key: string, pods: ComponentSamples["pods"]) => void,
    signal: AbortSignal,
  ): Promise<void> {
    const groups = groupTargets(targets, this.#options);
    // CPU and memory of the same components are read together, slice by slice.
    for (const cpu of groups.filter((group) => group.signal === "cpu_millicores")) {
      for (const memory of groups.filter((group) => group.signal === "memory_bytes")) {
        const keys = [...cpu.keys].filter((key) => memory.keys.has(key));
        if (keys.length > 0) await this.#readUsageOf(cpu, memory, keys, onPart, signal);
      }
    }
  }

  async #readUsageOf(
    cpu: QueryGroup,
    memory: QueryGroup,
    keys: readonly string[],
    onPart: (key: string, pods: ComponentSamples["pods"]) => void,
    signal: AbortSignal,
  ): Promise<void> {
    const budget = Math.floor(MAX_HISTORY_SAMPLES / (2 * this.#seriesOf(cpu)));
    const stepMs = budget * USAGE_STEP_MS >= USAGE_MS ? USAGE_STEP_MS : HISTORY_STEP_MS;
    const endMs = Math.floor(this.#options.ambient.clock.now() / stepMs) * stepMs;
    const startMs = endMs - Math.min(USAGE_MS, budget * stepMs);
    await this.#readSlices([cpu, memory], { startMs, endMs, stepMs }, signal, ([ofCpu, ofMemory]) => {
      for (const key of keys) {
        const pods = podSamples(ofCpu?.get(key), ofMemory?.get(key));
        if (Object.keys(pods).length > 0) onPart(key, pods);
      }
    });
  }

  /** Reads a long range in slices that bound the size of a response, oldest first. A failure ends it. */
  async #readSlices(
    groups: readonly QueryGroup[],
    { startMs, endMs, stepMs }: FetchRange,
    signal: AbortSignal,
    onSlice: (fetched: readonly ReadonlyMap<string, AssignedSignal>[]) => void,
  ): Promise<void> {
    const series = Math.max(...groups.map((group) => this.#seriesOf(group)));
    const sliceMs = Math.max(1, Math.floor(MAX_RESPONSE_SAMPLES / series)) * stepMs;
    try {
      for (let fromMs = startMs; fromMs < endMs; fromMs += sliceMs) {
        const sliceEndMs = Math.min(endMs, fromMs + sliceMs) - stepMs;
        const range = { startMs: fromMs, endMs: sliceEndMs, stepMs, deadlineMs: HISTORY_DEADLINE_MS };
        const fetched: ReadonlyMap<string, AssignedSignal>[] = [];
        for (const group of groups) fetched.push(await this.#query(group, range, signal));
        onSlice(fetched);
      }
    } catch (thrown) {
      if (signal.aborted) return;
      const signals = groups.map((group) => group.signal);
      this.#options.logger.warn("read history failed", { signals, fault: Fault.from(thrown) });
    }
  }

  #seriesOf(group: QueryGroup): number {
    return Math.max(1, this.#queries.get(queryKey(group))?.series ?? 0);
  }
}

function queryKey({ signal, template }: Pick<QueryGroup, "signal" | "template">): string {
  return `${signal} ${template}`;
}

/** Joins the pods of one component. */
function podSamples(cpu: AssignedSignal | undefined, memory: AssignedSignal | undefined): ComponentSamples["pods"] {
  const pods: Record<string, PodSamples> = {};
  for (const [pod, cpuMillicores] of cpu?.pods ?? []) pods[pod] = { cpuMillicores };
  for (const [pod, memoryBytes] of memory?.pods ?? []) pods[pod] = { ...pods[pod], memoryBytes };
  return pods;
}

/** Whether the history of a component can be read now. */
export function isHistoryReadable(outcome: ReadOutcome, target: ComponentTarget): boolean {
  const failures = outcome.failuresOf(target);
  return !HISTORY_SIGNALS.some((name) => failures.has(name));
}

function partialAnswer({ warnings }: QueryResult): Fault {
  const why = warnings.length === 0 ? "series may be missing" : warnings.join("; ");
  return unavailable("Prometheus", `the answer is partial: ${why}`);
}
