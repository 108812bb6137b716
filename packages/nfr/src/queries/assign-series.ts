import type { Sample, Series, Signal } from "../samples.ts";
import type { QueryOverrides } from "./build-queries.ts";
import { knativeServiceOf, PodIndex, type Workload } from "./pod-names.ts";
import { countAbove, type Bucket } from "./slow-requests.ts";

/** A component whose series are looked for. */
export interface ComponentTarget {
  /** Names the component in the result; unique. */
  readonly key: string;
  readonly namespace: string;
  /** The value of the label `oaas_owner`. */
  readonly owner: string;
  readonly deploymentId?: string;
  /** The value of the label `function`; absent for the state store. */
  readonly functionLabel?: string;
  readonly workloads: readonly Workload[];
  /** Pods that are known to belong to it. Other pods are assigned by their names. */
  readonly pods?: readonly string[];
  /** For slow requests. */
  readonly maxLatencyMs?: number;
  /** Templates of its environment, which replace those of the cluster. */
  readonly queries?: QueryOverrides;
}

/** A series of a query result. */
export interface ResultSeries {
  readonly labels: Readonly<Record<string, string>>;
  readonly samples: Series;
}

/** The samples of one signal of one component. */
export interface AssignedSignal {
  /** Over all series of the component. */
  readonly total: Series;
  /** By pod, for signals that are measured by pod. */
  readonly pods: ReadonlyMap<string, Series>;
}

/** How the series of one component are combined at each time. */
const COMBINE: Readonly<Record<Signal, (a: number, b: number) => number>> = {
  requests_per_second: add,
  latency_p50_ms: Math.max,
  latency_p95_ms: Math.max,
  latency_p99_ms: Math.max,
  errors_per_second: add,
  slow_requests_per_second: add,
  cpu_millicores: add,
  cpu_throttled_ratio: Math.max,
  memory_bytes: add,
  restarts: add,
  oom_kills: add,
  availability: Math.min,
  queue_length: add,
  ready_replicas: add,
};

/** Finds the component of a series by its labels. */
export class ComponentIndex {
  readonly #byKey = new Map<string, ComponentTarget>();
  readonly #byPod = new Map<string, ComponentTarget>();
  readonly #byWorkload = new PodIndex<ComponentTarget>();
  readonly #ambiguous = new Set<string>();

  constructor(targets: Iterable<ComponentTarget>) {
    for (const target of targets) this.#add(target);
  }

  #add(target: ComponentTarget): void {
    const { namespace, owner, deploymentId, functionLabel = "", workloads, pods = [] } = target;
    this.#put(`owner/${namespace}/${owner}/${functionLabel}`, target);
    if (deploymentId !== undefined) this.#put(`id/${namespace}/${deploymentId}/${functionLabel}`, target);
    // A series without a function belongs to the state store, or to the only component of the class.
    if (functionLabel !== "") {
      this.#putOnly(`only/owner/${namespace}/${owner}`, target);
      if (deploymentId !== undefined) this.#putOnly(`only/id/${namespace}/${deploymentId}`, target);
    }
    for (const workload of workloads) {
      this.#put(`${workload.kind}/${namespace}/${workload.name}`, target);
      this.#byWorkload.add(workload, target);
    }
    for (const pod of pods) this.#byPod.set(`${namespace}/${pod}`, target);
  }

  #put(key: string, target: ComponentTarget): void {
    this.#byKey.set(key, target);
  }

  #putOnly(key: string, target: ComponentTarget): void {
    if (this.#byKey.has(key)) this.#ambiguous.add(key);
    this.#byKey.set(key, target);
  }

  /** The component of a series, and how exactly the labels name it: the smallest rank is the best. */
  find(labels: ResultSeries["labels"]): Found | undefined {
    const namespace = labels["namespace"] ?? labels["namespace_name"] ?? labels["k8s_namespace_name"] ?? "";
    const configuration = labels["configuration_name"] ?? labels["kn_configuration_name"];
    if (hasText(configuration)) return found(0, this.#byKey.get(`Knative/${namespace}/${configuration}`));
    const { oaas_owner: owner, deployment_id: id, function: name = "" } = labels;
    if (hasText(owner)) return found(1, this.#findClass(`owner/${namespace}/${owner}`, name));
    if (hasText(id)) return found(2, this.#findClass(`id/${namespace}/${id}`, name));
    const deployment = labels["deployment"] ?? labels["k8s_deployment_name"];
    if (hasText(deployment)) return found(3, this.#findDeployment(namespace, deployment));
    const set = labels["statefulset"] ?? labels["k8s_statefulset_name"];
    if (hasText(set)) return found(3, this.#byKey.get(`StatefulSet/${namespace}/${set}`));
    const pod = labels["pod"] ?? labels["k8s_pod_name"];
    if (!hasText(pod)) return undefined;
    const target = this.#byPod.get(`${namespace}/${pod}`) ?? this.#byWorkload.find(namespace, pod);
    return target === undefined ? undefined : { rank: 4, target, pod };
  }

  #findClass(prefix: string, functionLabel: string): ComponentTarget | undefined {
    const exact = this.#byKey.get(`${prefix}/${functionLabel}`);
    if (exact !== undefined || functionLabel !== "") return exact;
    const only = `only/${prefix}`;
    return this.#ambiguous.has(only) ? undefined : this.#byKey.get(only);
  }

  #findDeployment(namespace: string, deployment: string): ComponentTarget | undefined {
    const exact = this.#byKey.get(`Deployment/${namespace}/${deployment}`);
    const service = exact === undefined ? knativeServiceOf(deployment) : undefined;
    return service === undefined ? exact : this.#byKey.get(`Knative/${namespace}/${service}`);
  }
}

interface Found {
  readonly rank: number;
  readonly target: ComponentTarget;
  readonly pod?: string;
}

/** Collects the series of one component. */
interface Collected {
  rank: number;
  readonly target: ComponentTarget;
  totals: Map<number, number>;
  pods: Map<string, Series>;
  buckets: Map<number, Bucket[]>;
}

/**
 * Assigns the series of one signal to components.
 *
 * Series that name their component in a better way replace the others, so that a request is not counted twice when
 * both Knative and the function measure it. Series of other workloads are counted in `unassigned`.
 */
export function assignSeries(
  index: ComponentIndex,
  signal: Signal,
  result: readonly ResultSeries[],
): { readonly signals: ReadonlyMap<string, AssignedSignal>; readonly unassigned: number } {
  const components = new Map<string, Collected>();
  let unassigned = 0;
  for (const series of result) {
    const at = index.find(series.labels);
    if (at === undefined) unassigned += 1;
    else {
      const collected = collectorFor(components, at);
      if (collected !== undefined) collect(collected, at, signal, series);
    }
  }
  const signals = new Map<string, AssignedSignal>();
  for (const [key, collected] of components) signals.set(key, assembled(collected));
  return { signals, unassigned };
}

function collectorFor(components: Map<string, Collected>, { target, rank }: Found): Collected | undefined {
  const known = components.get(target.key);
  if (known !== undefined && known.rank < rank) return undefined;
  if (known?.rank === rank) return known;
  const collected = { rank, target, totals: new Map(), pods: new Map(), buckets: new Map() };
  components.set(target.key, collected);
  return collected;
}

function collect(into: Collected, at: Found, signal: Signal, { labels, samples }: ResultSeries): void {
  const { le } = labels;
  if (signal === "slow_requests_per_second" && le !== undefined) {
    collectBuckets(into, boundMs(le, labels), samples);
    return;
  }
  const combine = COMBINE[signal];
  for (const { atMs, value } of samples) {
    const before = into.totals.get(atMs);
    into.totals.set(atMs, before === undefined ? value : combine(before, value));
  }
  if (at.pod !== undefined) into.pods.set(at.pod, samples);
}

function collectBuckets({ buckets }: Collected, bound: number, samples: Series): void {
  for (const { atMs, value } of samples) {
    const list = buckets.get(atMs);
    if (list === undefined) buckets.set(atMs, [{ bound, count: value }]);
    else list.push({ bound, count: value });
  }
}

/** Up to 1.18 Knative measures milliseconds; all others measure seconds. */
function boundMs(le: string, labels: ResultSeries["labels"]): number {
  if (le === "+Inf") return Number.POSITIVE_INFINITY;
  return Number(le) * (hasText(labels["configuration_name"]) ? 1 : 1000);
}

function assembled({ totals, pods, buckets, target }: Collected): AssignedSignal {
  const limit = target.maxLatencyMs;
  if (limit !== undefined) {
    for (const [atMs, list] of buckets) {
      const slow = countAbove(list, limit);
      if (slow !== undefined) totals.set(atMs, slow);
    }
  }
  const total: Sample[] = [];
  for (const [atMs, value] of totals) total.push({ atMs, value });
  total.sort((a, b) => a.atMs - b.atMs);
  return { total, pods };
}

function found(rank: number, target: ComponentTarget | undefined): Found | undefined {
  return target === undefined ? undefined : { rank, target };
}

function hasText(value: string | undefined): value is string {
  return value !== undefined && value !== "";
}

function add(a: number, b: number): number {
  return a + b;
}
