import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import type { ClassRuntime } from "@oaas/contracts/crd";
import type { Ambient } from "@oaas/foundation";
import type { KubeObject } from "@oaas/kube-core";
import { KubeClient, resourceType, type Transport } from "@oaas/kube-runtime";
import { NOOP_LOGGER, NOOP_METER } from "@oaas/observability";
import { StoreNetwork, type StoreNode } from "@oaas/test-store";
import { runStateStores, type StateStores } from "@oaas/test-store/runner";
import { embeddedServer, eventually, MemoryTransport, type ApiServer } from "@oaas/testkit";
import { parseAllDocuments } from "yaml";
import { createStoreNodes } from "../../src/adapters/store-nodes.ts";
import { createClassManager, type ClassManager } from "../../src/controller/class-manager.ts";
import { CLASS_RUNTIMES, PODS } from "../../src/controller/kinds/resource-types.ts";
import type { Pod } from "../../src/lifecycle/observation/observed-objects.ts";
import { OdgmHealth } from "../../src/odgm-health/odgm-health.ts";
import { compressTime } from "./compressed-time.ts";
import { FACTS } from "./controller-fixture.ts";

const CRDS = path.resolve(import.meta.dirname, "..", "..", "..", "..", "deploy", "crds");
const DEFINITIONS = resourceType<KubeObject>({
  group: "apiextensions.k8s.io",
  version: "v1",
  kind: "CustomResourceDefinition",
  resource: "customresourcedefinitions",
  namespaced: false,
});
const NAMESPACE = "default";
/** Times as fast as the real clock, so that graces of half a minute pass in seconds. */
const SPEED = 10;
/** Longer than a slow machine needs for a request. */
const REQUEST_MS = 20_000;

export type ClassStatus = NonNullable<ClassRuntime["status"]>;

/**
 * One cluster in this process with simulated nodes, and a store node with the traits of the real one for each running
 * store pod. Managers are started and stopped by the test.
 */
export class StoreCluster implements AsyncDisposable {
  readonly ambient: Ambient = compressTime(SPEED, Date.now());
  readonly network: StoreNetwork;
  readonly client: KubeClient;
  /** Writes of the managers, as method and path. */
  readonly writes: string[] = [];
  readonly #server: ApiServer;
  readonly #stores: StateStores;
  readonly #running = new Set<{ readonly manager: ClassManager; readonly client: KubeClient }>();

  private constructor() {
    const { ambient } = this;
    this.network = new StoreNetwork({ ambient });
    this.#server = embeddedServer({ ...ambient, simulation: { nodes: 3 } }).server;
    this.client = new KubeClient({ transport: new MemoryTransport(this.#server), ambient });
    this.#stores = runStateStores({ client: this.client, cluster: "here", network: this.network, ambient });
  }

  static async start(): Promise<StoreCluster> {
    const cluster = new StoreCluster();
    await cluster.#server.start();
    for (const file of readdirSync(CRDS).toSorted())
      for (const document of parseAllDocuments(readFileSync(path.join(CRDS, file), "utf8")))
        await cluster.client
          .resource(DEFINITIONS)
          .apply(document.toJS() as KubeObject, { fieldManager: "kubectl", force: true });
    await cluster.#stores.ready;
    return cluster;
  }

  /** Starts a manager; returns how to stop it. */
  async startManager({ image = "example.test/odgm:1" } = {}): Promise<() => Promise<void>> {
    const { ambient } = this;
    const client = new KubeClient({ transport: this.#recording(), ambient });
    const nodes = createStoreNodes(
      ({ namespace, name }) => this.#stores.addressOf(namespace, name),
      ambient.clock,
      REQUEST_MS,
    );
    const manager = createClassManager({
      client,
      ambient,
      namespaces: undefined,
      facts: { ...FACTS, odgm: { image, gatesReadiness: true } },
      identity: crypto.randomUUID(),
      odgmHealth: new OdgmHealth({
        nodes,
        ambient,
        logger: NOOP_LOGGER,
        meter: NOOP_METER,
        everyMs: 5_000,
        timeoutMs: REQUEST_MS,
      }),
    });
    const entry = { manager, client };
    this.#running.add(entry);
    manager.manager.start();
    await eventually(() => manager.manager.isWorking, { timeoutMs: 30_000, what: "the manager to work" });
    return () => this.#stop(entry);
  }

  async #stop(entry: { readonly manager: ClassManager; readonly client: KubeClient }): Promise<void> {
    if (!this.#running.delete(entry)) return;
    await entry.manager.manager.stop();
    await entry.client.close();
  }

  #recording(): Transport {
    const transport = new MemoryTransport(this.#server);
    return {
      send: (request) => {
        if (request.method !== "GET") this.writes.push(`${request.method} ${request.path}`);
        return transport.send(request);
      },
      close: () => transport.close(),
    };
  }

  /** Creates or updates a class with state. */
  async applyClass(name: string, odgm: object, over: object = {}): Promise<void> {
    const fn = { function_key: "f", provision_config: { container_image: "example.test/fn:1" } };
    const manifest = {
      apiVersion: "oaas.io/v1alpha1",
      kind: "ClassRuntime",
      metadata: { name, namespace: NAMESPACE },
      spec: { package_class_key: `shop.${name}`, functions: [fn], odgm_config: odgm, ...over },
    };
    await this.client.resource(CLASS_RUNTIMES).apply(manifest as never, { fieldManager: "user", force: true });
  }

  readClass(name: string): Promise<ClassRuntime & KubeObject> {
    return this.client.resource(CLASS_RUNTIMES).get({ namespace: NAMESPACE, name });
  }

  /** Waits until the status of a class matches. */
  async waitFor(name: string, what: string, matches: (status: ClassStatus) => boolean): Promise<ClassStatus> {
    return eventually(
      async () => {
        const { status } = await this.readClass(name);
        if (status !== undefined && matches(status)) return status;
        const { restart, missing_shards: missing } = status?.odgm_cluster_status ?? {};
        throw new Error(`${status?.phase} ${status?.message} ${JSON.stringify({ restart, missing })}`);
      },
      { timeoutMs: 45_000, what: `${name}: ${what}` },
    );
  }

  /** The pods of a store, sorted by name. */
  async pods(name: string): Promise<readonly Pod[]> {
    const labelSelector = `oaas.io/owner=${name},oaas.io/component=odgm`;
    const { items } = await this.client.resource(PODS).list({ namespace: NAMESPACE, labelSelector });
    return items.toSorted((one, other) => (one.metadata.name < other.metadata.name ? -1 : 1));
  }

  /** The store nodes of a class that run, by the name of their pods. */
  async nodes(name: string): Promise<readonly StoreNode[]> {
    const pods = await this.pods(name);
    return pods.flatMap(({ metadata: { name: pod = "" } }) => this.#stores.nodeOf(NAMESPACE, pod) ?? []);
  }

  /** Advances the clock by waiting. */
  async pass(ms: number): Promise<void> {
    await new Promise<void>((resolve) => void this.ambient.timers.after(ms, resolve));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const entry of this.#running) await this.#stop(entry);
    await this.#stores.close();
    await this.client.close();
    await this.#server.close();
  }
}
