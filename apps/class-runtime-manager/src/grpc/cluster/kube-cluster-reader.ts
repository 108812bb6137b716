import { Fault, orAbort, startDeadline, type Ambient } from "@oaas/foundation";
import type { KubeObject } from "@oaas/kube-core";
import { resourceType, type KubeClient } from "@oaas/kube-runtime";
import { NOOP_LOGGER, type Logger } from "@oaas/observability";
import { demandOf, type NodeFacts, type PodDemand, type PodFacts } from "../../availability/capacity.ts";
import type { ClusterFacts } from "../../rendering/model/cluster-facts.ts";
import { BUILTIN_TEMPLATES } from "../../templates/builtin/registry.ts";

const PODS = resourceType<KubeObject & PodFacts>({
  group: "",
  version: "v1",
  kind: "Pod",
  resource: "pods",
  namespaced: true,
});

/** What is known of the cluster as a whole. */
export interface ClusterReader {
  /** From a cache; undefined when nodes may not be read. */
  nodes(): readonly NodeFacts[] | undefined;
  /** What pods ask for by now; undefined when that may not be read. */
  demand(signal: AbortSignal): Promise<PodDemand | undefined>;
  /** Why the cluster's API does not answer at the moment, as far as watches have noticed. */
  trouble(): Fault | undefined;
  /** Whether the cluster's API serves: it says so itself, also of what is behind it. Soon answered. */
  isServing(signal: AbortSignal): Promise<boolean>;
  kubernetesVersion(signal: AbortSignal): Promise<string | undefined>;
  /** Such as odgm, knative, hpa, prometheus: on and usable at this moment. */
  capabilities(): readonly string[];
  /** Names that `selected_template` may take. */
  templates(): readonly string[];
  /** Names of the EnvironmentConfigs. */
  environments(): readonly string[];
}

/** What the reader of the cluster is made of. */
export interface KubeClusterOptions extends Pick<
  ClusterReader,
  "trouble" | "capabilities" | "templates" | "environments"
> {
  readonly client: KubeClient;
  readonly ambient: Ambient;
  /** From a cache; undefined when nodes may not be read. */
  readonly nodes: () => Iterable<NodeFacts> | undefined;
  readonly logger?: Logger;
}

/** How old the sum of all pods' requests may be: it is read only when asked for, and not for each who asks. */
const DEMAND_AGE_MS = 30_000;
const VERSION_AGE_MS = 300_000;
const READ_WITHIN_MS = 10_000;
/** Whether the API serves is worth knowing while it is news. A server that takes longer to say so is of no use to anybody. */
const SERVING_AGE_MS = 1_000;
const SERVING_WITHIN_MS = 2_000;

/** What is known of the cluster, from caches, and for what no cache holds from the server, at most now and then. */
export function kubeClusterReader(options: KubeClusterOptions): ClusterReader {
  const { client } = options;
  const demand = new Remembered<PodDemand>(options, "pods", DEMAND_AGE_MS, async (signal) => {
    const pods: PodFacts[] = [];
    const running = "status.phase!=Succeeded,status.phase!=Failed";
    for await (const pod of client.resource(PODS).listAll({ fieldSelector: running }, { signal })) pods.push(slim(pod));
    return demandOf(pods);
  });
  const version = new Remembered<string>(
    options,
    "version",
    VERSION_AGE_MS,
    async (signal) => (await client.discovery.version({ signal })).gitVersion,
  );
  const serving = new Remembered<boolean>(
    options,
    "readyz",
    SERVING_AGE_MS,
    // A server that has much to do may miss one of its own checks: it is believed when it says no twice.
    async (signal) => (await client.isReady({ signal })) || client.isReady({ signal }),
    SERVING_WITHIN_MS,
  );
  return {
    nodes: () => {
      const nodes = options.nodes();
      return nodes === undefined ? undefined : [...nodes];
    },
    demand: (signal) => demand.read(signal),
    kubernetesVersion: (signal) => version.read(signal),
    trouble: () => options.trouble(),
    isServing: async (signal) => (await serving.read(signal)) ?? false,
    capabilities: () => options.capabilities(),
    templates: () => options.templates(),
    environments: () => options.environments(),
  };
}

function slim({ spec, status }: PodFacts): PodFacts {
  return { ...(spec === undefined ? {} : { spec }), ...(status === undefined ? {} : { status }) };
}

/** One value that is read when it is asked for and too old; those who ask meanwhile share the reading. What cannot be read is undefined. */
class Remembered<T> {
  readonly #options: KubeClusterOptions;
  readonly #what: string;
  readonly #ageMs: number;
  readonly #get: (signal: AbortSignal) => Promise<T>;
  readonly #withinMs: number;
  #value: { readonly of: Promise<T | undefined>; readonly at: number } | undefined;

  constructor(
    options: KubeClusterOptions,
    what: string,
    ageMs: number,
    get: (signal: AbortSignal) => Promise<T>,
    withinMs: number = READ_WITHIN_MS,
  ) {
    this.#options = options;
    this.#what = what;
    this.#ageMs = ageMs;
    this.#get = get;
    this.#withinMs = withinMs;
  }

  async read(signal: AbortSignal): Promise<T | undefined> {
    const now = this.#options.ambient.clock.monotonic();
    if (this.#value === undefined || now - this.#value.at >= this.#ageMs) this.#value = { of: this.#load(), at: now };
    return orAbort(this.#value.of, signal);
  }

  async #load(): Promise<T | undefined> {
    using deadline = startDeadline(this.#options.ambient, this.#withinMs);
    try {
      return await this.#get(deadline.signal);
    } catch (thrown) {
      (this.#options.logger ?? NOOP_LOGGER).warn("a fact of the cluster cannot be read", {
        fact: this.#what,
        fault: Fault.from(thrown),
      });
      return undefined;
    }
  }
}

/** Lists the features that are enabled and available in the cluster: odgm, knative, hpa, prometheus. */
export function capabilityNames({
  features,
  capabilities,
}: Pick<ClusterFacts, "features" | "capabilities">): readonly string[] {
  const usable = {
    odgm: features.odgm,
    knative: features.knative && capabilities.knative,
    hpa: features.hpa && capabilities.horizontalPodAutoscaler,
    prometheus: features.prometheus && (capabilities.serviceMonitor || capabilities.podMonitor),
  };
  return Object.entries(usable).flatMap(([name, is]) => (is ? [name] : []));
}

/** Every name that `selected_template` may take: built-in ones with their other names, then those of users. */
export function templateNames(ofUsers: Iterable<string>): readonly string[] {
  return [...new Set([...BUILTIN_TEMPLATES.flatMap(({ id, aliases }) => [id, ...aliases]), ...ofUsers])];
}
