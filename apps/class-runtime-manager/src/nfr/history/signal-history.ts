import type { ClassRuntime } from "@oaas/contracts/crd";
import { failedPrecondition, Fault, Semaphore, unavailable } from "@oaas/foundation";
import type { Series } from "@oaas/nfr";
import { assignSeries, ComponentIndex, fillTemplate, narrowTemplate, type AssignedSignal } from "@oaas/nfr/queries";
import type { MetricsProvider } from "../analysis/metrics-provider.ts";
import { templateFor, type ClusterQueries } from "../analysis/query-groups.ts";
import type { MeasuredComponent } from "../components/measured-component.ts";
import { componentHistory, READ_SIGNALS, type ReadSignal, type SignalHistory } from "./component-history.ts";
import type { HistoryRange } from "./history-range.ts";

export interface SignalHistoryReaderOptions extends ClusterQueries {
  readonly provider: MetricsProvider;
  readonly rateWindowMs: number;
  /** The measured components of a class, as they are in the caches now. */
  readonly componentsOf: (object: ClassRuntime, uid: string) => readonly MeasuredComponent[];
}

/** Fewer than the analyzer runs on the same server. */
const MAX_QUERIES = 2;
/** Ten readers. */
const MAX_WAITING = 10 * READ_SIGNALS.length;

/**
 * Reads the signals of one class over a range, with the queries of the analyzer narrowed to the class.
 *
 * *Guarantees*: few queries run at a time, whatever the number of readers; a failed or partial query fails the read with
 * its reason.
 */
export class SignalHistoryReader {
  readonly #options: SignalHistoryReaderOptions;
  readonly #queries = new Semaphore({ name: "signals", permits: MAX_QUERIES, maxWaiting: MAX_WAITING });

  constructor(options: SignalHistoryReaderOptions) {
    this.#options = options;
  }

  componentsOf(object: ClassRuntime, uid: string): readonly MeasuredComponent[] {
    return this.#options.componentsOf(object, uid);
  }

  async read(
    components: readonly MeasuredComponent[],
    range: HistoryRange,
    signal: AbortSignal,
  ): Promise<readonly SignalHistory[]> {
    if (components.length === 0) return [];
    const failing = new AbortController();
    const both = AbortSignal.any([signal, failing.signal]);
    const index = new ComponentIndex(components.map(({ target }) => target));
    try {
      const assigned = await Promise.all(
        READ_SIGNALS.map(async (name) => [name, await this.#query(name, components, index, range, both)] as const),
      );
      const bySignal = new Map(assigned);
      return components.flatMap((component) => {
        const seriesOf = (name: ReadSignal): Series => bySignal.get(name)?.get(component.target.key)?.total ?? [];
        return componentHistory(component, seriesOf, range);
      });
    } finally {
      failing.abort();
    }
  }

  /** All components of a class are in one environment, which has one template of each signal. */
  async #query(
    name: ReadSignal,
    components: readonly MeasuredComponent[],
    index: ComponentIndex,
    { startMs, endMs, stepMs }: HistoryRange,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, AssignedSignal>> {
    const { provider, rateWindowMs } = this.#options;
    const targets = components.map(({ target }) => target);
    const template = narrowTemplate(templateFor(name, targets[0], this.#options), name, targets);
    const namespaces = [...new Set(targets.map(({ namespace }) => namespace))];
    const expression = fillTemplate(template, { namespaces, windowMs: Math.max(rateWindowMs, stepMs) });
    try {
      const { series, isPartial, warnings } = await this.#queries.run(signal, () =>
        provider.queryRange({ expression, startMs, endMs, stepMs }, { signal }),
      );
      if (isPartial) throw unavailable("Prometheus", `the answer is partial: ${warnings.join("; ")}`);
      return assignSeries(index, name, series).signals;
    } catch (thrown) {
      throw readFault(name, Fault.from(thrown));
    }
  }
}

/** A request that the provider rejects needs a change of settings: its kind is not about the caller of the manager. */
function readFault(name: ReadSignal, fault: Fault): Fault {
  const message = `cannot read the signal ${name}: ${fault.message}`;
  return fault.retryable || fault.kind === "cancelled"
    ? fault.with({ message })
    : failedPrecondition("Prometheus", message, { cause: fault });
}
