import { Fault, sleep, unavailable, type Ambient } from "@oaas/foundation";
import { SIGNALS, type ComponentSamples, type PodSamples, type Series, type Signal } from "@oaas/nfr";
import type { RequestSeries } from "@oaas/nfr/analyzer";
import {
  assignSeries,
  buildQuery,
  ComponentIndex,
  type AssignedSignal,
  type ComponentTarget,
  type NamingScheme,
  type QueryOverrides,
} from "@oaas/nfr/queries";
import type { Logger } from "@oaas/observability";
import type { QueryResult } from "@oaas/prometheus-client";
import { SampleStore } from "../components/sample-store.ts";
import type { MetricsProvider } from "./metrics-provider.ts";
import type { AnalyzerMetrics } from "./telemetry.ts";

export interface SignalReaderOptions {
  readonly provider: MetricsProvider;
  readonly ambient: Ambient;
  readonly logger: Logger;
  readonly metrics: AnalyzerMetrics;
  readonly rangeMs: number;
  readonly stepMs: number;
  readonly rateWindowMs: number;
  readonly scheme: NamingScheme;
  readonly overrides: QueryOverrides;
}

/** Which signals could be read. */
export interface ReadOutcome {
  /** Signals whose last query failed, with the first fault of the outage. */
  readonly failures: ReadonlyMap<Signal, Outage>;
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
/** Namespaces in one query, which bounds its length. */
const MAX_NAMESPACES = 100;

const HISTORY_MS = 3 * 24 * 3_600_000;
const HISTORY_STEP_MS = 5 * 60_000;
/** A day of samples of every minute gives full confidence in the sizes of containers. */
const USAGE_MS = 24 * 3_600_000;
const USAGE_STEP_MS = 60_000;
const HISTORY_SIGNALS = ["requests_per_second", "errors_per_second", "slow_requests_per_second"] as const;
/** Days of samples take longer than minutes. */
const HISTORY_DEADLINE_MS = 30_000;
/** Bounds the memory and the time of reading history after a start. */
const MAX_HISTORY_SAMPLES = 1_000_000;
const MAX_RESPONSE_SAMPLES = 250_000;

/**
 * Reads the signals of all components: one range query per signal and tick, whatever the number of classes, and only
 * what is new since the last one.
 *
 * *Guarantees*: a failed or partial query changes no stored sample; the others are stored.
 */
export class SignalReader {
  readonly #options: SignalReaderOptions;
  readonly #store = new SampleStore();
  /** The end of the last range that was stored, by signal. */
  readonly #readUntil = new Map<Signal, number>();
  readonly #outages = new Map<Signal, Outage>();
  /** Series of the last response, to size the queries of history. */
  readonly #seriesCount = new Map<Signal, number>();

  constructor(options: SignalReaderOptions) {
    this.#options = options;
  }

  /** Forgets everything, at the start of a term of leadership. */
  clear(): void {
    this.#store.clear();
    this.#readUntil.clear();
    this.#outages.clear();
  }

  samplesOf(key: string): ReturnType<SampleStore["samplesOf"]> {
    return this.#store.samplesOf(key);
  }

  /** Reads all signals of the components. */
  async read(targets: readonly ComponentTarget[], signal: AbortSignal): Promise<ReadOutcome> {
    this.#store.retain(new Set(targets.map(({ key }) => key)));
    if (targets.length > 0 && (await this.#isAnswering(signal))) {
      const index = new ComponentIndex(targets);
      const chunks = namespaceChunks(targets);
      await Promise.all(SIGNALS.map((one) => this.#readSignal(one, index, chunks, targets, signal)));
    }
    return { failures: this.#outages };
  }

  /** After failures one health check decides, instead of a failure of every query. */
  async #isAnswering(signal: AbortSignal): Promise<boolean> {
    const { provider } = this.#options;
    if (provider.breaker === "closed") return true;
    const health = await provider.healthCheck({ signal });
    if (!health.isHealthy) for (const one of SIGNALS) this.#fail(one, unavailable("Prometheus", health.reason));
    return health.isHealthy;
  }

  async #readSignal(
    name: Signal,
    index: ComponentIndex,
    chunks: readonly (readonly string[])[],
    targets: readonly ComponentTarget[],
    signal: AbortSignal,
  ): Promise<void> {
    if (name === "slow_requests_per_second" && targets.every(({ maxLatencyMs }) => maxLatencyMs === undefined)) return;
    const { ambient, rangeMs, stepMs } = this.#options;
    const endMs = Math.floor(ambient.clock.now() / stepMs) * stepMs;
    const last = this.#readUntil.get(name) ?? Number.NEGATIVE_INFINITY;
    const startMs = Math.max(endMs - rangeMs, Math.min(endMs, last - OVERLAP_STEPS * stepMs));
    try {
      const fetched = await this.#query(name, index, chunks, { startMs, endMs, stepMs }, signal);
      this.#store.add(name, fetched, { fromMs: startMs, keepFromMs: endMs - rangeMs });
      this.#readUntil.set(name, endMs);
      this.#outages.delete(name);
    } catch (thrown) {
      if (!signal.aborted) this.#fail(name, Fault.from(thrown));
    }
  }

  async #query(
    name: Signal,
    index: ComponentIndex,
    chunks: readonly (readonly string[])[],
    { deadlineMs, ...range }: FetchRange,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, AssignedSignal>> {
    const { provider, rateWindowMs, scheme, overrides, metrics, ambient } = this.#options;
    const all = new Map<string, AssignedSignal>();
    let count = 0;
    for (const namespaces of chunks) {
      const windowMs = Math.max(rateWindowMs, range.stepMs);
      const expression = buildQuery(name, { namespaces, windowMs }, scheme, overrides);
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
    this.#seriesCount.set(name, count);
    return all;
  }

  #reportOddities(name: Signal, { duplicates, warnings }: QueryResult): void {
    const { logger } = this.#options;
    if (duplicates.length > 0) logger.warn("ignored duplicate series", { signal: name, series: duplicates });
    if (warnings.length > 0) logger.debug("query has warnings", { signal: name, warnings });
  }

  #fail(name: Signal, fault: Fault): void {
    const { logger, metrics } = this.#options;
    metrics.queryErrors.add(1, { signal: name, kind: fault.kind });
    const known = this.#outages.get(name);
    if (known !== undefined) return;
    logger.warn("query signal failed; keeping the last samples", { signal: name, fault });
    const lastReadMs = this.#readUntil.get(name);
    this.#outages.set(name, { fault, ...(lastReadMs === undefined ? {} : { lastReadMs }) });
  }

  /**
   * Reads requests, errors and slow requests of up to three days, oldest first, to rebuild error budgets after a start. A
   * large cluster gets a shorter history, and a failure a part of it: budgets of long windows are then unknown.
   */
  async readHistory(
    targets: readonly ComponentTarget[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, RequestSeries>> {
    const index = new ComponentIndex(targets);
    const chunks = namespaceChunks(targets);
    const { clock } = this.#options.ambient;
    const endMs = Math.floor(clock.now() / HISTORY_STEP_MS) * HISTORY_STEP_MS;
    const budget = Math.floor(MAX_HISTORY_SAMPLES / (HISTORY_SIGNALS.length * Math.max(1, targets.length)));
    const startMs = endMs - Math.min(HISTORY_MS, budget * HISTORY_STEP_MS);
    const histories = new Map<string, Partial<Record<(typeof HISTORY_SIGNALS)[number], Series>>>();
    try {
      for (const name of HISTORY_SIGNALS) {
        const series = Math.max(1, this.#seriesCount.get(name) ?? 0);
        const sliceMs = Math.max(1, Math.floor(MAX_RESPONSE_SAMPLES / series)) * HISTORY_STEP_MS;
        for (let fromMs = startMs; fromMs < endMs; fromMs += sliceMs) {
          const range = { startMs: fromMs, endMs: Math.min(endMs, fromMs + sliceMs) - HISTORY_STEP_MS };
          const query = { ...range, stepMs: HISTORY_STEP_MS, deadlineMs: HISTORY_DEADLINE_MS };
          const fetched = await this.#query(name, index, chunks, query, signal);
          for (const [key, { total }] of fetched) {
            const known = histories.get(key) ?? {};
            histories.set(key, { ...known, [name]: [...(known[name] ?? []), ...total] });
          }
        }
      }
    } catch (thrown) {
      if (!signal.aborted) this.#options.logger.warn("read request history failed", { fault: Fault.from(thrown) });
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
    const index = new ComponentIndex(targets);
    const chunks = namespaceChunks(targets);
    const series = Math.max(1, this.#seriesCount.get("cpu_millicores") ?? 0);
    const budget = Math.floor(MAX_HISTORY_SAMPLES / (2 * series));
    const stepMs = budget * USAGE_STEP_MS >= USAGE_MS ? USAGE_STEP_MS : HISTORY_STEP_MS;
    const endMs = Math.floor(this.#options.ambient.clock.now() / stepMs) * stepMs;
    const sliceMs = Math.max(1, Math.floor(MAX_RESPONSE_SAMPLES / series)) * stepMs;
    try {
      for (let fromMs = endMs - Math.min(USAGE_MS, budget * stepMs); fromMs < endMs; fromMs += sliceMs) {
        const sliceEndMs = Math.min(endMs, fromMs + sliceMs) - stepMs;
        const range = { startMs: fromMs, endMs: sliceEndMs, stepMs, deadlineMs: HISTORY_DEADLINE_MS };
        const cpu = await this.#query("cpu_millicores", index, chunks, range, signal);
        const memory = await this.#query("memory_bytes", index, chunks, range, signal);
        for (const key of new Set([...cpu.keys(), ...memory.keys()]))
          onPart(key, podSamples(cpu.get(key), memory.get(key)));
      }
    } catch (thrown) {
      if (!signal.aborted) this.#options.logger.warn("read usage history failed", { fault: Fault.from(thrown) });
    }
  }
}

/** Joins the pods of one component. */
function podSamples(cpu: AssignedSignal | undefined, memory: AssignedSignal | undefined): ComponentSamples["pods"] {
  const pods: Record<string, PodSamples> = {};
  for (const [pod, cpuMillicores] of cpu?.pods ?? []) pods[pod] = { cpuMillicores };
  for (const [pod, memoryBytes] of memory?.pods ?? []) pods[pod] = { ...pods[pod], memoryBytes };
  return pods;
}

/** Whether the signals of the history can be read now. */
export function isHistoryReadable({ failures }: ReadOutcome): boolean {
  return !HISTORY_SIGNALS.some((name) => failures.has(name));
}

function partialAnswer({ warnings }: QueryResult): Fault {
  const why = warnings.length === 0 ? "series may be missing" : warnings.join("; ");
  return unavailable("Prometheus", `the answer is partial: ${why}`);
}

function namespaceChunks(targets: readonly ComponentTarget[]): readonly (readonly string[])[] {
  const names = [...new Set(targets.map(({ namespace }) => namespace))].sort((a, b) => (a < b ? -1 : 1));
  const chunks: string[][] = [];
  for (let at = 0; at < names.length; at += MAX_NAMESPACES) chunks.push(names.slice(at, at + MAX_NAMESPACES));
  return chunks;
}
