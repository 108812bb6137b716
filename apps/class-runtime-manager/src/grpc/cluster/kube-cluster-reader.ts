import { Fault, orAbort, startDeadline, type Ambient } from "@oaas/foundation";
import type { KubeObject } from "@oaas/kube-core";
import { resourceType, type KubeClient } from "@oaas/kube-runtime";
import { NOOP_LOGGER, type Logger } from "@oaas/observability";
import { sumDemand, type NodeFacts, type PodDemand, type PodFacts } from "../../availability/capacity.ts";
import type { ClusterFacts, ScalingFacts } from "../../rendering/model/cluster-facts.ts";
import type { Template } from "../../templates/template.ts";
import { BUILTIN_TEMPLATES } from "../../templates/builtin/registry.ts";

const PODS = resourceType<KubeObject & PodFacts>({
  group: "",
  version: "v1",
  kind: "Pod",
  resource: "pods",
  namespaced: true,
});

/** Reads facts about the whole cluster. */
export interface ClusterReader {
  /** From a cache; undefined without read permission. */
  nodes(): readonly NodeFacts[] | undefined;
  /** The resource requests of all pods; undefined without read permission. */
  demand(signal: AbortSignal): Promise<PodDemand | undefined>;
  /** The fault of the watches if the Kubernetes API fails. */
  apiFault(): Fault | undefined;
  /** Whether the Kubernetes API reports itself ready. Returns within a short timeout. */
  isServing(signal: AbortSignal): Promise<boolean>;
  kubernetesVersion(signal: AbortSignal): Promise<string | undefined>;
  /** Enabled and available features, such as odgm, knative, hpa, prometheus. */
  capabilities(): readonly string[];
  /** Names that `selected_template` may take. */
  templates(): readonly string[];
  /** The templates that can run a function with `min_scale: 0` now, with their aliases. */
  zeroScaleTemplates(): readonly string[];
  /** Names of the EnvironmentConfigs. */
  environments(): readonly string[];
}

/** Dependencies of the cluster reader. */
export interface KubeClusterReaderOptions extends Pick<
  ClusterReader,
  "apiFault" | "capabilities" | "templates" | "zeroScaleTemplates" | "environments"
> {
  readonly client: KubeClient;
  readonly ambient: Ambient;
  /** From a cache; undefined without read permission. */
  readonly nodes: () => Iterable<NodeFacts> | undefined;
  readonly logger?: Logger;
}

/** Lifetime of the cached sum of all pod requests. */
const DEMAND_TTL_MS = 30_000;
const VERSION_TTL_MS = 300_000;
const READ_TIMEOUT_MS = 10_000;
/** Readiness is cached only briefly; a slower response counts as not ready. */
const SERVING_TTL_MS = 1_000;
const SERVING_TIMEOUT_MS = 2_000;

/** Reads cluster facts from caches, and the others from the server with a time to live. */
export function createKubeClusterReader(options: KubeClusterReaderOptions): ClusterReader {
  const { client } = options;
  const demand = new CachedValue<PodDemand>(options, "pods", DEMAND_TTL_MS, async (signal) => {
    const pods: PodFacts[] = [];
    const running = "status.phase!=Succeeded,status.phase!=Failed";
    for await (const pod of client.resource(PODS).listAll({ fieldSelector: running }, { signal })) pods.push(slim(pod));
    return sumDemand(pods);
  });
  const version = new CachedValue<string>(
    options,
    "version",
    VERSION_TTL_MS,
    async (signal) => (await client.discovery.version({ signal })).gitVersion,
  );
  const serving = new CachedValue<boolean>(
    options,
    "readyz",
    SERVING_TTL_MS,
    // A busy server may fail one of its own checks, so one retry follows.
    async (signal) => (await client.isReady({ signal })) || client.isReady({ signal }),
    SERVING_TIMEOUT_MS,
  );
  return {
    nodes: () => {
      const nodes = options.nodes();
      return nodes === undefined ? undefined : [...nodes];
    },
    demand: (signal) => demand.read(signal),
    kubernetesVersion: (signal) => version.read(signal),
    apiFault: () => options.apiFault(),
    isServing: async (signal) => (await serving.read(signal)) ?? false,
    capabilities: () => options.capabilities(),
    templates: () => options.templates(),
    zeroScaleTemplates: () => options.zeroScaleTemplates(),
    environments: () => options.environments(),
  };
}

function slim({ spec, status }: PodFacts): PodFacts {
  return { ...(spec === undefined ? {} : { spec }), ...(status === undefined ? {} : { status }) };
}

/** A value with a time to live. Concurrent readers share one request; a failed request yields undefined. */
class CachedValue<T> {
  readonly #options: KubeClusterReaderOptions;
  readonly #name: string;
  readonly #ttlMs: number;
  readonly #load: (signal: AbortSignal) => Promise<T>;
  readonly #timeoutMs: number;
  #value: { readonly of: Promise<T | undefined>; readonly at: number } | undefined;

  constructor(
    options: KubeClusterReaderOptions,
    name: string,
    ttlMs: number,
    load: (signal: AbortSignal) => Promise<T>,
    timeoutMs: number = READ_TIMEOUT_MS,
  ) {
    this.#options = options;
    this.#name = name;
    this.#ttlMs = ttlMs;
    this.#load = load;
    this.#timeoutMs = timeoutMs;
  }

  async read(signal: AbortSignal): Promise<T | undefined> {
    const now = this.#options.ambient.clock.monotonic();
    if (this.#value === undefined || now - this.#value.at >= this.#ttlMs)
      this.#value = { of: this.#loadInTime(), at: now };
    return orAbort(this.#value.of, signal);
  }

  async #loadInTime(): Promise<T | undefined> {
    using deadline = startDeadline(this.#options.ambient, this.#timeoutMs);
    try {
      return await this.#load(deadline.signal);
    } catch (thrown) {
      (this.#options.logger ?? NOOP_LOGGER).warn("read cluster fact failed", {
        fact: this.#name,
        fault: Fault.from(thrown),
      });
      return undefined;
    }
  }
}

/** Lists the features that are enabled and available in the cluster: odgm, knative, hpa, prometheus, keda. */
export function capabilityNames(
  { features, capabilities, enforcement = "off" }: Pick<ClusterFacts, "features" | "capabilities" | "enforcement">,
  isMeasuring: boolean,
): readonly string[] {
  const usable = {
    odgm: features.odgm,
    knative: features.knative && capabilities.knative,
    hpa: features.hpa && capabilities.horizontalPodAutoscaler,
    "nfr-enforcement": isMeasuring && enforcement !== "off",
    prometheus: features.prometheus && (capabilities.serviceMonitor || capabilities.podMonitor),
    keda: capabilities.scaledObject,
    "keda-http": capabilities.httpScaledObject,
  };
  return Object.entries(usable).flatMap(([name, isUsable]) => (isUsable ? [name] : []));
}

/** The names and aliases of the templates that can scale functions to zero. */
export function zeroScaleNames(cluster: ScalingFacts, userTemplates: Iterable<Template>): readonly string[] {
  const able = [...BUILTIN_TEMPLATES, ...userTemplates].filter((one) => one.whyNotToZero(cluster) === undefined);
  return [...new Set(able.flatMap(({ id, aliases }) => [id, ...aliases]))];
}

/** The valid values of `selected_template`: built-in templates with their aliases, then user templates. */
export function templateNames(userTemplates: Iterable<string>): readonly string[] {
  return [...new Set([...BUILTIN_TEMPLATES.flatMap(({ id, aliases }) => [id, ...aliases]), ...userTemplates])];
}
