import type { Ambient } from "@oaas/foundation";
import { formatObjectKey, keyOf, type KubeObject, type ObjectKey, type Stored } from "@oaas/kube-core";
import { Controller, Informer, own, resourceType, settled, type KubeClient } from "@oaas/kube-runtime";
import { NOOP_LOGGER, type Logger } from "@oaas/observability";
import { serveStoreNode, type ServedNode } from "../grpc/index.ts";
import type { Cut, NodePlace, StoreNetwork, StoreNode } from "../index.ts";
import { resolveEnvironment, type PodContainer, type StorePod } from "./pod-environment.ts";

export interface StateStoresOptions {
  readonly client: KubeClient;
  /** Name of the cluster in the data plane network. */
  readonly cluster: string;
  readonly network: StoreNetwork;
  readonly ambient: Ambient;
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** Pods of stores. Default: those of the class runtime manager. */
  readonly labelSelector?: string;
  /** Container that runs the store. Default `odgm`. */
  readonly container?: string;
  readonly logger?: Logger;
}

/** The stores of one cluster. */
export interface StateStores {
  /** Resolves when the pods of the cluster are known. */
  readonly ready: Promise<void>;
  /** Address of a running store, by the name or the IP of its pod. */
  addressOf(namespace: string, pod: string): string | undefined;
  /** The running store of a pod. */
  nodeOf(namespace: string, pod: string): StoreNode | undefined;
  /** Cuts the stores on a node of the cluster off, and their addresses; they keep running. */
  loseMachine(name: string): Cut;
  close(): Promise<void>;
}

interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

/** A container that runs. */
interface Run {
  /** Differs after each restart of the container. */
  readonly id: string;
  readonly podIP: string | undefined;
  /** Name of the node of the cluster that runs the pod. */
  readonly machine: string | undefined;
  readonly node: StoreNode;
  readonly served: ServedNode;
}

const PODS = resourceType<StorePod>({ group: "", version: "v1", kind: "Pod", resource: "pods", namespaced: true });
const CONFIG_MAPS = resourceType<ConfigMap>({
  group: "",
  version: "v1",
  kind: "ConfigMap",
  resource: "configmaps",
  namespaced: true,
});

/**
 * Runs a store node in this process for each running store pod of a cluster, simulated, KWOK or real, and serves it on
 * a loopback port.
 *
 * *Guarantees*: one node per run of a container. A restarted container and a new pod get a new, empty node; a deleted
 * pod gets SIGTERM when its deletion is requested and loses its node when it is gone.
 */
export function runStateStores(options: StateStoresOptions): StateStores {
  const stores = new StateStoreRunner(options);
  stores.start();
  return stores;
}

class StateStoreRunner implements StateStores {
  readonly ready: Promise<void>;
  readonly #options: StateStoresOptions;
  readonly #pods: Informer<StorePod>;
  readonly #controller: Controller;
  readonly #runs = new Map<string, Run>();
  readonly #lostMachines = new Set<string>();
  readonly #logger: Logger;

  constructor(options: StateStoresOptions) {
    const { client, ambient, cluster, labelSelector = "oaas.io/component=odgm" } = options;
    this.#options = options;
    this.#logger = (options.logger ?? NOOP_LOGGER).child({ cluster });
    const source = client.resource(PODS).source({ labelSelector });
    this.#pods = new Informer({ name: "store-pods", source, ambient, logger: this.#logger });
    this.#controller = new Controller({
      name: "state-stores",
      ambient,
      logger: this.#logger,
      sources: [own(this.#pods)],
      reconcile: async (key, { signal }) => {
        await this.#settle(key, signal);
        return settled();
      },
    });
    this.ready = this.#pods.synced();
    this.ready.catch(() => undefined);
  }

  start(): void {
    this.#pods.start();
    this.#controller.start();
  }

  addressOf(namespace: string, pod: string): string | undefined {
    const run = this.#find(namespace, pod);
    return this.#lostMachines.has(run?.machine ?? "") ? undefined : run?.served.address;
  }

  loseMachine(name: string): Cut {
    this.#lostMachines.add(name);
    const { network, cluster } = this.#options;
    const isOn = (place: NodePlace): boolean =>
      place.cluster === cluster && this.#runs.get(place.name.slice(cluster.length + 1))?.machine === name;
    const cut = network.cut((a, b) => isOn(a) !== isOn(b));
    return {
      heal: () => {
        this.#lostMachines.delete(name);
        cut.heal();
      },
    };
  }

  nodeOf(namespace: string, pod: string): StoreNode | undefined {
    return this.#find(namespace, pod)?.node;
  }

  async close(): Promise<void> {
    await this.#controller.stop(0);
    await this.#pods.stop();
    for (const key of this.#runs.keys()) await this.#end(key);
  }

  #find(namespace: string, pod: string): Run | undefined {
    const run = this.#runs.get(`${namespace}/${pod}`);
    if (run !== undefined) return run;
    const prefix = `${namespace}/`;
    return [...this.#runs].find(([key, { podIP }]) => key.startsWith(prefix) && podIP === pod)?.[1];
  }

  /** Makes the node of a pod match its container. */
  async #settle(key: ObjectKey, signal: AbortSignal): Promise<void> {
    const name = formatObjectKey(key);
    const pod = this.#pods.get(key);
    const container = pod?.spec?.containers?.find((each) => each.name === (this.#options.container ?? "odgm"));
    const id = pod && container && runOf(pod, container);
    if (this.#runs.get(name)?.id !== id) await this.#end(name);
    if (pod === undefined || container === undefined || id === undefined) return;
    // The kubelet of a lost node hears of nothing.
    if (this.#lostMachines.has(pod.spec?.nodeName ?? "")) return;
    if (pod.metadata.deletionTimestamp !== undefined) this.#runs.get(name)?.node.signal("SIGTERM");
    else if (!this.#runs.has(name)) await this.#start(pod, container, id, signal);
  }

  async #start(pod: Stored<StorePod>, container: PodContainer, id: string, signal: AbortSignal): Promise<void> {
    const { network, cluster, ambient, host = "127.0.0.1" } = this.#options;
    const key = keyOf(pod);
    const env = await this.#environmentOf(pod, container, signal);
    const node = network.start(env, { name: `${cluster}/${formatObjectKey(key)}`, cluster });
    for (const problem of node.settings.problems) this.#logger.warn("a store runs without shards", { ...key, problem });
    try {
      const served = await serveStoreNode(node, { host, port: 0, ambient });
      const machine = pod.spec?.nodeName;
      this.#runs.set(formatObjectKey(key), { id, podIP: pod.status?.podIP, machine, node, served });
    } catch (thrown) {
      node.kill();
      throw thrown;
    }
  }

  #environmentOf(pod: Stored<StorePod>, container: PodContainer, signal: AbortSignal) {
    const namespace = pod.metadata.namespace ?? "";
    const maps = this.#options.client.resource(CONFIG_MAPS);
    const read = async (name: string) => {
      const map = await maps.find({ namespace, name }, { signal });
      return map && (map.data ?? {});
    };
    return resolveEnvironment(pod, container, read);
  }

  async #end(name: string): Promise<void> {
    const run = this.#runs.get(name);
    this.#runs.delete(name);
    run?.node.kill();
    await run?.served.close();
  }
}

/** Identifies a run of a container; undefined while it does not run. */
function runOf({ metadata, status }: Stored<StorePod>, { name }: PodContainer): string | undefined {
  const found = status?.containerStatuses?.find((each) => each.name === name);
  return found?.state?.running === undefined ? undefined : `${metadata.uid}/${found.restartCount ?? 0}`;
}
