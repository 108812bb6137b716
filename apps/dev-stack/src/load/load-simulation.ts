import type { Clock, Timer, Timers } from "@oaas/foundation";
import { parseQuantity, safeName } from "@oaas/kube-core";
import { TimeSeriesStore } from "@oaas/promql";
import { FunctionLoad, type Component, type LoadedPod, type LoadState, type PodUsage } from "./function-load.ts";
import { loadAt, readLoad, type StatedLoad } from "./stated-load.ts";

/** On a ClassRuntime: the requests per second of each of its functions, such as `50` or `20..300/10m`. */
export const LOAD_ANNOTATION = "simulation.oaas.io/requests-per-second";
/** In the config of a function: its requests per second, in the same form. The annotation takes precedence. */
export const LOAD_VARIABLE = "SIMULATED_REQUESTS_PER_SECOND";

/** The objects of a cluster by kind; read only. */
export type ListObjects = (kind: { readonly group: string; readonly resource: string }) => readonly unknown[];

export interface LoadPorts {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly list: ListObjects;
}

/** The interval of the samples, as of a scrape. */
export const SCRAPE_MS = 5000;
const DEFAULT_LOAD = 2;
/** More than the replicas of any example can serve. */
const SPIKE_LOAD = 500;

/**
 * Simulated requests to the functions of a cluster. Every few seconds each function serves its load with its ready pods,
 * and the samples that a Prometheus would have scraped are appended to a store.
 */
export class LoadSimulation {
  readonly store = new TimeSeriesStore({ maxSeries: 20_000, maxSamplesPerSeries: 720, retentionMs: 3_600_000 });
  readonly #ports: LoadPorts;
  readonly #functions = new Map<string, FunctionLoad>();
  #usages: ReadonlyMap<string, PodUsage> = new Map();
  /** Requests of clients since the last interval, by component. */
  readonly #received = new Map<string, number>();
  #hasSpike = false;
  #timer: Timer | undefined;

  constructor(ports: LoadPorts) {
    this.#ports = ports;
  }

  start(): void {
    this.#timer ??= this.#ports.timers.after(SCRAPE_MS, () => {
      this.#timer = undefined;
      this.advance();
      this.start();
    });
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  /** Raises the load of every function, or sets it back. Load that a class states itself stays. */
  setSpike(hasSpike: boolean): void {
    this.#hasSpike = hasSpike;
  }

  /** Counts a request that a client sent to a pod; it adds to the load of the next interval. */
  countRequest(pod: { readonly metadata: Metadata }): void {
    const key = keyOf(pod.metadata);
    this.#received.set(key, (this.#received.get(key) ?? 0) + 1);
  }

  /** The load of each function in the last interval. */
  get states(): readonly LoadState[] {
    const decisions = autoscalerDecisions(
      this.#ports.list({ group: "autoscaling", resource: "horizontalpodautoscalers" }),
    );
    return [...this.#functions].flatMap(([key, { state }]) => {
      const autoscaler = decisions.get(key);
      return state ? [{ ...state, ...(autoscaler === undefined ? {} : { autoscaler }) }] : [];
    });
  }

  /** The usage of a pod in the last interval, for the metrics API. */
  usageOf(pod: { readonly metadata: { readonly namespace?: string; readonly name?: string } }): PodUsage | undefined {
    return this.#usages.get(`${pod.metadata.namespace}/${pod.metadata.name}`);
  }

  /** Serves one interval. */
  advance(): void {
    const { list, clock } = this.#ports;
    const nowMs = clock.now();
    const groups = Map.groupBy(
      list({ group: "", resource: "pods" }).flatMap((pod) => readPod(pod as PodObject)),
      ({ key }) => key,
    );
    const loads = statedLoads(list({ group: "oaas.io", resource: "classruntimes" }));
    const usages = new Map<string, PodUsage>();
    for (const [key, pods] of groups) {
      const [first] = pods;
      if (!first) continue;
      const { component } = first;
      const load = this.#functions.get(key) ?? new FunctionLoad(component, nowMs);
      this.#functions.set(key, load);
      const stated = loads.get(`${component.namespace}/${component.owner}`) ?? first.load;
      const usual = this.#hasSpike ? SPIKE_LOAD : DEFAULT_LOAD;
      const received = (this.#received.get(key) ?? 0) / (SCRAPE_MS / 1000);
      const requestsPerSecond = received + (stated === undefined ? usual : loadAt(stated, nowMs - load.sinceMs));
      const used = load.advance(
        this.store,
        pods.map(({ pod }) => pod),
        { nowMs, seconds: SCRAPE_MS / 1000, requestsPerSecond },
      );
      for (const [name, usage] of used) usages.set(`${component.namespace}/${name}`, usage);
    }
    this.#received.clear();
    this.#endMissing(groups, nowMs);
    this.#appendReplicas(nowMs);
    this.#usages = usages;
  }

  #endMissing(groups: ReadonlyMap<string, unknown>, nowMs: number): void {
    for (const [key, load] of this.#functions) {
      if (groups.has(key)) continue;
      load.end(this.store, nowMs);
      this.#functions.delete(key);
    }
    this.store.prune(nowMs);
  }

  /** As kube-state-metrics shows Deployments and StatefulSets. */
  #appendReplicas(nowMs: number): void {
    for (const { resource, label, desired } of WORKLOADS) {
      for (const object of this.#ports.list({ group: "apps", resource }) as readonly WorkloadObject[]) {
        if (object.metadata.labels?.[OWNER_LABEL] === undefined) continue;
        const labels = { namespace: object.metadata.namespace ?? "", [label]: object.metadata.name ?? "" };
        this.store.append({ __name__: desired, ...labels }, nowMs, object.spec?.replicas ?? 1);
        this.store.append(
          { __name__: `kube_${label}_status_replicas_ready`, ...labels },
          nowMs,
          object.status?.readyReplicas ?? 0,
        );
      }
    }
  }
}

const WORKLOADS = [
  { resource: "deployments", label: "deployment", desired: "kube_deployment_spec_replicas" },
  { resource: "statefulsets", label: "statefulset", desired: "kube_statefulset_replicas" },
] as const;

const OWNER_LABEL = "oaas.io/owner";
const FUNCTION_LABEL = "oaas.io/function";

interface Metadata {
  readonly namespace?: string;
  readonly name?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly deletionTimestamp?: string;
}

interface PodObject {
  readonly metadata: Metadata;
  readonly spec?: {
    readonly containers?: readonly {
      readonly name: string;
      readonly env?: readonly { readonly name: string; readonly value?: string }[];
      readonly resources?: { readonly limits?: Readonly<Record<string, string | number>> };
    }[];
  };
  readonly status?: {
    readonly phase?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}

interface WorkloadObject {
  readonly metadata: Metadata;
  readonly spec?: { readonly replicas?: number };
  readonly status?: { readonly readyReplicas?: number };
}

interface KnownPod {
  readonly key: string;
  readonly component: Component;
  readonly pod: LoadedPod;
  /** The load that the config of the function states. */
  readonly load?: StatedLoad;
}

/** Names the component of an object by its labels. */
function keyOf({ namespace = "", labels = {} }: Metadata): string {
  return JSON.stringify([namespace, labels[OWNER_LABEL] ?? "", labels[FUNCTION_LABEL] ?? null]);
}

/** A running pod of a class. */
function readPod({ metadata, spec, status }: PodObject): readonly KnownPod[] {
  const { namespace = "", name = "", labels = {} } = metadata;
  const owner = labels[OWNER_LABEL];
  const [container] = spec?.containers ?? [];
  if (owner === undefined || !container || status?.phase !== "Running") return [];
  const functionName = labels[FUNCTION_LABEL];
  const component: Component = {
    namespace,
    owner,
    deploymentId: labels["oaas.io/deployment-id"] ?? "",
    className: labels["oaas.io/class"] ?? "",
    ...(functionName === undefined ? {} : { functionName }),
  };
  const isReady = metadata.deletionTimestamp === undefined && isTrue(status.conditions, "Ready");
  const pod: LoadedPod = {
    namespace,
    name,
    container: container.name,
    isReady,
    cpuLimitMillicores: millicores(container.resources?.limits?.["cpu"]) ?? 1000,
  };
  const load = readLoad(container.env?.find((variable) => variable.name === LOAD_VARIABLE)?.value);
  return [{ key: keyOf(metadata), component, pod, ...(load === undefined ? {} : { load }) }];
}

function isTrue(
  conditions: readonly { readonly type: string; readonly status: string }[] | undefined,
  type: string,
): boolean {
  return conditions?.some((condition) => condition.type === type && condition.status === "True") ?? false;
}

function millicores(amount: string | number | undefined): number | undefined {
  const parsed = amount === undefined ? undefined : parseQuantity(amount);
  const found = parsed?.ok ? Number(parsed.value.nano) / 1e6 : 0;
  return found > 0 ? found : undefined;
}

/** The load that classes state in their annotation, by namespace and owner label. */
function statedLoads(classes: readonly unknown[]): ReadonlyMap<string, StatedLoad> {
  const loads = new Map<string, StatedLoad>();
  for (const { metadata } of classes as readonly { readonly metadata: Metadata }[]) {
    const load = readLoad(metadata.annotations?.[LOAD_ANNOTATION]);
    const owner = safeName([metadata.name ?? ""], { kind: "label-value" });
    if (load !== undefined) loads.set(`${metadata.namespace}/${owner}`, load);
  }
  return loads;
}

interface AutoscalerObject {
  readonly metadata: Metadata;
  readonly spec?: {
    readonly metrics?: readonly {
      readonly resource?: { readonly target?: { readonly averageUtilization?: number } };
    }[];
  };
  readonly status?: {
    readonly desiredReplicas?: number;
    readonly currentMetrics?: readonly {
      readonly resource?: { readonly current?: { readonly averageUtilization?: number } };
    }[];
  };
}

/** What each autoscaler measured and wants, by component. */
function autoscalerDecisions(autoscalers: readonly unknown[]): ReadonlyMap<string, string> {
  const decisions = new Map<string, string>();
  for (const { metadata, spec, status } of autoscalers as readonly AutoscalerObject[]) {
    const measured = status?.currentMetrics?.[0]?.resource?.current?.averageUtilization;
    const target = spec?.metrics?.[0]?.resource?.target?.averageUtilization;
    const text =
      measured === undefined
        ? "no metrics yet"
        : `CPU ${measured} % of the request, target ${target ?? 0} %: ${status?.desiredReplicas ?? 0} replicas`;
    decisions.set(keyOf(metadata), text);
  }
  return decisions;
}
