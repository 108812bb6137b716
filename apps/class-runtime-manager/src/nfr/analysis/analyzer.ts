import type { ClassRuntime, ClassRuntimeStatus } from "@oaas/contracts/crd";
import { Fault, sleep, type Ambient } from "@oaas/foundation";
import { refOf, type KubeObject, type Stored } from "@oaas/kube-core";
import type { EventInput, LedTask } from "@oaas/kube-runtime";
import { SIGNALS, type ComponentSamples, type Dimension, type Recommendation, type Signal } from "@oaas/nfr";
import {
  analyze,
  loadCapacity,
  type Analysis,
  type AnalyzerSettings,
  type AnalyzerState,
  type RequestSeries,
} from "@oaas/nfr/analyzer";
import { ResourceModel, type ResourceTargets } from "@oaas/nfr/resources";
import type { Logger, Meter } from "@oaas/observability";
import type { MeasuredComponent } from "../components/measured-component.ts";
import { complianceEvents, observationEvent } from "../status/nfr-events.ts";
import {
  nextNfrStatus,
  withWrittenStart,
  writtenCapacity,
  writtenRecommendations,
  type NfrStatusUpdate,
} from "../status/nfr-status.ts";
import { NFR_OBSERVED, observedState, type ObservedState } from "../status/observed-condition.ts";
import {
  isHistoryReadable,
  SignalReader,
  type Outage,
  type ReadOutcome,
  type SignalReaderOptions,
} from "./signal-reader.ts";
import { analyzerMetrics, type AnalyzerMetrics } from "./telemetry.ts";
import { ViolationTime } from "./violation-time.ts";

/** A class to measure, as it is in the caches now. */
export interface MeasuredClass {
  readonly object: Stored<KubeObject>;
  readonly class: ClassRuntime;
  readonly status: ClassRuntimeStatus | undefined;
  /** False when the class turns measurements off. */
  readonly isMeasured: boolean;
  readonly components: readonly MeasuredComponent[];
  /** Writes the status fields of the analyzer. Returns false when the object was changed or deleted meanwhile. */
  writeStatus(status: ClassRuntimeStatus, signal: AbortSignal): Promise<boolean>;
}

/** The result of one tick for one class, for the enforcer. */
export interface AnalyzedClass {
  readonly measured: MeasuredClass;
  readonly observed: ObservedState;
  readonly components: readonly AnalyzedComponent[];
}

export interface AnalyzedComponent {
  readonly measured: MeasuredComponent;
  readonly analysis: Analysis;
  /** All dimensions. */
  readonly recommendations: readonly Recommendation[];
  readonly samples: ComponentSamples;
}

export interface AnalyzerOptions extends Pick<
  SignalReaderOptions,
  "provider" | "ambient" | "logger" | "rangeMs" | "stepMs" | "rateWindowMs" | "scheme" | "overrides"
> {
  readonly meter: Meter;
  readonly everyMs: number;
  readonly settings: AnalyzerSettings;
  /** The least memory that is recommended. Default: that of the model. */
  readonly minMemoryBytes?: number;
  /** The classes to measure. */
  readonly classes: () => Iterable<MeasuredClass>;
  readonly recordEvent: (event: EventInput) => void;
  /** Called for each class after its status. A failure is logged. */
  readonly onAnalyzed?: (analyzed: AnalyzedClass, signal: AbortSignal) => Promise<void>;
  /** Called for each class that is not measured. */
  readonly onNotMeasured?: (one: MeasuredClass, signal: AbortSignal) => Promise<void>;
}

/** Classes that are analyzed before other work gets a turn. */
const CLASSES_PER_TURN = 20;

/**
 * Measures the requirements of all classes while this process is the leader, independent of reconciles.
 *
 * ```
 *   every tick:  caches ─▶ components ─▶ one query per signal ─▶ samples ─▶ analyze each component ─▶ status on change
 * ```
 *
 * *Guarantees*: the number of queries does not depend on the number of classes; an outage of Prometheus delays nothing
 * else and keeps the last recommendations; a status is written only when it changes meaningfully; a tick never overlaps
 * the next one.
 */
export class Analyzer implements LedTask {
  readonly name = "nfr-analyzer";
  readonly #options: AnalyzerOptions;
  readonly #ambient: Ambient;
  readonly #logger: Logger;
  readonly #metrics: AnalyzerMetrics;
  readonly #reader: SignalReader;
  readonly #violationTime: ViolationTime;
  /** By key of the component. */
  readonly #states = new Map<string, AnalyzerState>();
  readonly #resources = new Map<string, ResourceModel>();
  /** Time of the newest sample of each class, by uid. */
  readonly #lastData = new Map<string, number>();
  /** Components of the first tick whose history is not read yet; undefined before it. */
  #awaitingHistory: Set<string> | undefined;
  /** What this tick read of it. */
  #history: ReadonlyMap<string, RequestSeries> = new Map();

  constructor(options: AnalyzerOptions) {
    this.#options = options;
    this.#ambient = options.ambient;
    this.#logger = options.logger;
    this.#metrics = analyzerMetrics(options.meter);
    this.#reader = new SignalReader({ ...options, metrics: this.#metrics });
    this.#violationTime = new ViolationTime(options.meter);
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, timers } = this.#ambient;
    // Another process may have been the leader: what this one remembers is outdated.
    this.#reader.clear();
    this.#states.clear();
    this.#resources.clear();
    this.#lastData.clear();
    this.#awaitingHistory = undefined;
    this.#violationTime.restart();
    while (!signal.aborted) {
      const startedMs = clock.monotonic();
      await this.tick(signal).catch((thrown: unknown) => {
        if (!signal.aborted) this.#logger.error("measure requirements failed", { fault: Fault.from(thrown) });
      });
      const spentMs = clock.monotonic() - startedMs;
      await sleep(timers, Math.max(0, this.#options.everyMs - spentMs), signal).catch(() => undefined);
    }
  }

  /** Measures all classes once. */
  async tick(signal: AbortSignal): Promise<void> {
    const { clock } = this.#ambient;
    const startedMs = clock.monotonic();
    const all = [...this.#options.classes()];
    const classes = all.filter(({ isMeasured }) => isMeasured);
    for (const one of all) if (!one.isMeasured) await this.#withdraw(one, signal);
    const targets = classes.flatMap(({ components }) => components.map(({ target }) => target));
    const keys = new Set(targets.map(({ key }) => key));
    retainKeys(this.#states, keys);
    retainKeys(this.#resources, keys);
    retainKeys(this.#lastData, new Set(classes.map(({ object }) => object.metadata.uid)));
    this.#violationTime.startTick(
      startedMs,
      classes.map(({ object }) => object.metadata),
    );
    const outcome = await this.#reader.read(targets, signal);
    await this.#readHistory(classes, outcome, signal);
    const counts = { True: 0, Unknown: 0 };
    for (const [position, one] of classes.entries()) {
      if (signal.aborted) return;
      if (position % CLASSES_PER_TURN === 0 && position > 0) await sleep(this.#ambient.timers, 0, signal);
      const observed = await this.#measure(one, outcome, signal).catch((thrown: unknown) => {
        const { namespace, name } = one.object.metadata;
        this.#logger.error("measure class failed", { namespace, name, fault: Fault.from(thrown) });
      });
      counts[observed?.status ?? "Unknown"] += 1;
    }
    // The history is part of the states now.
    this.#history = new Map();
    for (const status of ["True", "Unknown"] as const) this.#metrics.classes.set(counts[status], { observed: status });
    const newestMs = Math.max(...this.#lastData.values());
    if (Number.isFinite(newestMs)) this.#metrics.dataAge.set((clock.now() - newestMs) / 1000);
    this.#metrics.tickDuration.observe((clock.monotonic() - startedMs) / 1000);
  }

  /** Reads the history of each class that was there at the start, once its signals can be read. */
  async #readHistory(classes: readonly MeasuredClass[], outcome: ReadOutcome, signal: AbortSignal): Promise<void> {
    const components = classes.flatMap(({ components: listed, status }) => listed.map((one) => ({ one, status })));
    if (components.length === 0 || this.#awaitingHistory?.size === 0) return;
    const awaiting = this.#awaitingHistory ?? new Set(components.map(({ one }) => one.target.key));
    const readable = components.filter(
      ({ one: { target } }) => awaiting.has(target.key) && isHistoryReadable(outcome, target),
    );
    for (const { one } of readable) awaiting.delete(one.target.key);
    this.#awaitingHistory = awaiting;
    if (readable.length === 0) return;
    this.#history = await this.#reader.readHistory(
      readable.map(({ one }) => one.target),
      signal,
    );
    await this.#restoreSizes(readable, signal);
  }

  /** Removes the status fields of a class that is no longer measured. */
  async #withdraw(one: MeasuredClass, signal: AbortSignal): Promise<void> {
    const { namespace, name } = one.object.metadata;
    try {
      if (hasObservedCondition(one.status)) await one.writeStatus({}, signal);
      await this.#options.onNotMeasured?.(one, signal);
    } catch (thrown) {
      this.#logger.warn("withdraw recommendations failed", { namespace, name, fault: Fault.from(thrown) });
    }
  }

  async #measure(one: MeasuredClass, outcome: ReadOutcome, signal: AbortSignal): Promise<ObservedState> {
    const nowMs = this.#ambient.clock.now();
    const failures = outcome.failuresOf(one.components[0]?.target);
    const lost = lostSignals(failures, nowMs, this.#options.settings.maxDataAgeMs);
    const components = one.components.map((component) => this.#analyze(component, one, lost, nowMs));
    const compliance = components.flatMap(({ analysis }) => analysis.compliance);
    this.#violationTime.add(one.object.metadata, compliance);
    const lastDataMs = this.#updateLastData(one, components, nowMs);
    const observed = observedState({
      ...(lastDataMs === undefined ? {} : { lastDataMs }),
      maxDataAgeMs: this.#options.settings.maxDataAgeMs,
      nowMs,
      failures: [...failures].map(([name, { fault, lastReadMs }]) => ({
        signal: name,
        message: fault.message,
        ...(lastReadMs === undefined ? {} : { lastReadMs }),
      })),
      signals: SIGNALS.length,
      findings: components.flatMap(({ measured: { component }, analysis: { findings } }) =>
        findings.map((finding) => ({ ...finding, component })),
      ),
    });
    await this.#report({ measured: one, observed, components }, nowMs, signal);
    return observed;
  }

  #updateLastData({ object }: MeasuredClass, components: readonly AnalyzedComponent[], nowMs: number) {
    const { uid } = object.metadata;
    const ages = components.flatMap(({ analysis: { dataAgeMs } }) => (dataAgeMs === undefined ? [] : [dataAgeMs]));
    if (ages.length > 0) this.#lastData.set(uid, nowMs - Math.min(...ages));
    return this.#lastData.get(uid);
  }

  #analyze(
    measured: MeasuredComponent,
    { status }: MeasuredClass,
    lost: ReadonlySet<Signal>,
    nowMs: number,
  ): AnalyzedComponent {
    const { component, target, requirements, scale, revision } = measured;
    const { key } = target;
    const state = this.#states.get(key);
    const history = this.#history.get(key);
    const samples = withoutSignals(this.#reader.samplesOf(key), lost);
    const previousTarget = state === undefined ? writtenTarget(status, component, "replicas") : undefined;
    const stored = state === undefined ? writtenCapacity(status, component) : undefined;
    const restoredCurve = stored === undefined ? undefined : loadCapacity(stored);
    const analysis = analyze({
      nowMs,
      component,
      requirements,
      scale,
      samples,
      ...(history === undefined ? {} : { history }),
      revision,
      ...(state === undefined ? {} : { state }),
      ...(previousTarget === undefined ? {} : { previousTarget }),
      ...(restoredCurve === undefined ? {} : { restoredCurve }),
      settings: this.#options.settings,
    });
    const compliance = state === undefined ? withWrittenStart(analysis.compliance, status) : analysis.compliance;
    this.#states.set(key, stateWithStart(analysis.state, compliance));
    const sizes = this.#recommendSizes(measured, samples.pods, status);
    // Outdated samples recommend nothing new.
    const isFresh = (analysis.dataAgeMs ?? Number.POSITIVE_INFINITY) <= this.#options.settings.maxDataAgeMs;
    const recommendations = [...analysis.recommendations, ...(isFresh ? sizes : [])];
    return { measured, analysis: { ...analysis, compliance }, recommendations, samples };
  }

  /** Learns the usage of the last day, after a start. */
  #restoreSizes(
    components: readonly { readonly one: MeasuredComponent; readonly status: ClassRuntimeStatus | undefined }[],
    signal: AbortSignal,
  ): Promise<void> {
    const known = new Map(components.map((each) => [each.one.target.key, each]));
    const targets = components.map(({ one }) => one.target);
    // Samples are learnt in the order of time.
    for (const key of known.keys()) this.#resources.delete(key);
    return this.#reader.readUsage(
      targets,
      (key, pods) => {
        const component = known.get(key);
        if (component !== undefined) this.#learnSizes(component.one, pods, component.status);
      },
      signal,
    );
  }

  /** After a start the written targets are floors until enough is measured again. */
  #learnSizes(
    { component, target: { key }, container, limits }: MeasuredComponent,
    pods: ComponentSamples["pods"],
    status: ClassRuntimeStatus | undefined,
  ): ResourceModel {
    const model = this.#resources.get(key) ?? this.#createModel(status, component);
    this.#resources.set(key, model);
    const { memoryRequest } = container;
    model.observe(pods, {
      ...(memoryRequest === undefined ? {} : { requestBytes: memoryRequest }),
      ...(limits.memory === undefined ? {} : { limitBytes: limits.memory }),
    });
    return model;
  }

  #createModel(status: ClassRuntimeStatus | undefined, component: string): ResourceModel {
    const { minMemoryBytes } = this.#options;
    return new ResourceModel(writtenSizes(status, component), minMemoryBytes === undefined ? {} : { minMemoryBytes });
  }

  /** CPU and memory of a container. */
  #recommendSizes(
    measured: MeasuredComponent,
    pods: ComponentSamples["pods"],
    status: ClassRuntimeStatus | undefined,
  ): readonly Recommendation[] {
    const { component, container, limits } = measured;
    const { cpuRequest, memoryRequest } = container;
    const model = this.#learnSizes(measured, pods, status);
    return model.recommend({
      component,
      validForMs: this.#options.settings.validMs,
      queries: { cpu: "cpu_millicores", memory: "memory_bytes" },
      current: {
        ...(cpuRequest === undefined ? {} : { cpu: cpuRequest }),
        ...(memoryRequest === undefined ? {} : { memory: memoryRequest }),
      },
      limits,
    });
  }

  async #report(analyzed: AnalyzedClass, nowMs: number, signal: AbortSignal): Promise<void> {
    if (this.#isStarting(analyzed, nowMs)) return;
    const { namespace, name } = analyzed.measured.object.metadata;
    // A status that cannot be written does not keep the class from being enforced.
    for (const work of [() => this.#writeStatus(analyzed, nowMs, signal), this.#options.onAnalyzed]) {
      try {
        await work?.(analyzed, signal);
      } catch (thrown) {
        if (signal.aborted) return;
        this.#logger.warn("report requirements failed", { namespace, name, fault: Fault.from(thrown) });
      }
    }
  }

  async #writeStatus(analyzed: AnalyzedClass, nowMs: number, signal: AbortSignal): Promise<void> {
    const { measured, components, observed } = analyzed;
    const update = nextNfrStatus(
      measured.status,
      {
        recommendations: components.flatMap(({ recommendations }) => recommendations),
        compliance: components.flatMap(({ analysis }) => analysis.compliance),
        capacities: components.map(({ measured: { component }, analysis: { state, learntCapacity } }) => ({
          component,
          curve: state.curve,
          learnt: learntCapacity,
        })),
        minConfidence: this.#options.settings.minConfidence,
        observed,
        components: new Set(components.map(({ measured: { component } }) => component)),
      },
      { nowMs, generation: measured.object.metadata.generation ?? 0 },
    );
    if (update.status === undefined || !(await measured.writeStatus(update.status, signal))) return;
    this.#announce(analyzed, update);
  }

  /** A class that is starting has no series yet: that is neither worth a condition nor a warning. */
  #isStarting({ measured, observed, components }: AnalyzedClass, nowMs: number): boolean {
    if (components.length === 0) return true;
    if (observed.reason !== "NoSeries" || hasObservedCondition(measured.status)) return false;
    const ageMs = nowMs - Date.parse(measured.object.metadata.creationTimestamp ?? "");
    return measured.status?.phase !== "available" || ageMs < this.#options.settings.maxDataAgeMs;
  }

  /** Events and metrics of what changed, once it is written. */
  #announce({ measured, observed }: AnalyzedClass, update: NfrStatusUpdate): void {
    const regarding = refOf(measured.object);
    for (const event of complianceEvents(update.transitions, regarding)) this.#options.recordEvent(event);
    for (const { to } of update.transitions) {
      if (to.status === "violated") this.#metrics.violations.add(1, { requirement: to.requirement });
    }
    if (update.isObservationChanged) this.#options.recordEvent(observationEvent(observed, regarding));
  }
}

/** Signals that could not be read for so long that their samples are outdated. */
function lostSignals(failures: ReadonlyMap<Signal, Outage>, nowMs: number, maxDataAgeMs: number): ReadonlySet<Signal> {
  const lost = [...failures].filter(([, { lastReadMs }]) => nowMs - (lastReadMs ?? 0) > maxDataAgeMs);
  return new Set(lost.map(([name]) => name));
}

/** Unknown is safer than outdated: an old spike of one signal must not be combined with fresh samples of the others. */
function withoutSignals({ signals, pods }: ComponentSamples, lost: ReadonlySet<Signal>): ComponentSamples {
  if (lost.size === 0) return { signals, pods };
  const kept = Object.entries(signals).filter(([name]) => !lost.has(name as Signal));
  return {
    signals: Object.fromEntries(kept),
    pods: lost.has("cpu_millicores") || lost.has("memory_bytes") ? {} : pods,
  };
}

function hasObservedCondition(status: ClassRuntimeStatus | undefined): boolean {
  return status?.conditions?.some(({ type }) => type === NFR_OBSERVED) ?? false;
}

function retainKeys(map: Map<string, unknown>, keys: ReadonlySet<string>): void {
  for (const key of map.keys()) if (!keys.has(key)) map.delete(key);
}

/** The last written target of a dimension. */
function writtenTarget(
  status: ClassRuntimeStatus | undefined,
  component: string,
  dimension: Dimension,
): number | undefined {
  const written = writtenRecommendations(status);
  return written.find((one) => one.component === component && one.dimension === dimension)?.target;
}

function writtenSizes(status: ClassRuntimeStatus | undefined, component: string): ResourceTargets {
  const [cpu, memory] = (["cpu", "memory"] as const).map((dimension) => writtenTarget(status, component, dimension));
  return { ...(cpu === undefined ? {} : { cpu }), ...(memory === undefined ? {} : { memory }) };
}

function stateWithStart(state: AnalyzerState, compliance: Analysis["compliance"]): AnalyzerState {
  const starts = compliance.map(({ requirement, status, sinceMs }) => [requirement, { status, sinceMs }] as const);
  return { ...state, verdicts: Object.fromEntries(starts) };
}
