import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { loadConfig } from "@oaas/config";
import type { Random } from "@oaas/foundation";
import { virtualAmbient } from "@oaas/foundation/virtual";
import { embeddedServer, faultyApi, MemoryTransport, type ApiServer, type Fate } from "@oaas/kube-apiserver";
import type { KubeObject } from "@oaas/kube-core";
import { KubeClient, resourceType } from "@oaas/kube-runtime";
import { parseAllDocuments } from "yaml";
import { crmConfig } from "../../../apps/class-runtime-manager/src/config.ts";
import {
  createClassManager,
  type ClassManager,
} from "../../../apps/class-runtime-manager/src/controller/class-manager.ts";
import { configuredFacts } from "../../../apps/class-runtime-manager/src/controller/cluster/cluster-facts.ts";
import { CLASS_RUNTIMES } from "../../../apps/class-runtime-manager/src/controller/kinds/resource-types.ts";
import { classOf, type Wish } from "../../../apps/class-runtime-manager/test/world.ts";
import { toldApi } from "./told-api.ts";

const CRDS = path.resolve(import.meta.dirname, "..", "..", "..", "deploy", "crds");
const DEFINITIONS = resourceType<KubeObject>({
  group: "apiextensions.k8s.io",
  version: "v1",
  kind: "CustomResourceDefinition",
  resource: "customresourcedefinitions",
  namespaced: false,
});
const DEFINED: readonly KubeObject[] = readdirSync(CRDS)
  .toSorted()
  .flatMap((file) => parseAllDocuments(readFileSync(path.join(CRDS, file), "utf8")))
  .map((document) => document.toJS() as KubeObject);
const NAMESPACE = "default";
const NODES = 3;
const STARTING_MS = 1_000;

export interface ClassClusterOptions {
  /** What befalls the manager's requests. */
  readonly fateOf?: (random: Random) => Fate | undefined;
  /** Hears of everything that the manager asks and is answered. */
  readonly tell?: (text: string) => void;
}

/** A whole cluster in this process, without sockets, on virtual time from a seed: server, simulated workloads, client, informers, class runtime manager. */
export class ClassCluster implements AsyncDisposable {
  readonly server: ApiServer;
  /** As a user, to whom nothing befalls. */
  readonly client: KubeClient;
  readonly manager: ClassManager;
  readonly #ambient: ReturnType<typeof virtualAmbient>;
  readonly #managersClient: KubeClient;

  private constructor(seed: number, { fateOf = () => undefined, tell = () => undefined }: ClassClusterOptions) {
    const ambient = virtualAmbient(seed);
    this.#ambient = ambient;
    this.server = embeddedServer({ ...ambient, simulation: { nodes: NODES } }).server;
    this.client = new KubeClient({ transport: new MemoryTransport(this.server), ambient });
    const way = toldApi(
      faultyApi(this.server, ambient.timers, () => fateOf(ambient.random)),
      (text) => tell(`${ambient.time.now()} ${text}`),
    );
    this.#managersClient = new KubeClient({ transport: new MemoryTransport(way), ambient });
    this.manager = createClassManager({
      client: this.#managersClient,
      ambient,
      namespaces: undefined,
      facts: configuredFacts(loadConfig(crmConfig, { env: {} })),
      identity: "one-process",
    });
  }

  /** Starts all of it; the manager works when this returns, unless too much befell it. */
  static async start(seed: number, options: ClassClusterOptions = {}): Promise<ClassCluster> {
    const cluster = new ClassCluster(seed, options);
    await cluster.server.start();
    for (const definition of DEFINED)
      await cluster.client.resource(DEFINITIONS).apply(definition, { fieldManager: "kubectl", force: true });
    await cluster.pass(STARTING_MS);
    cluster.manager.manager.start();
    await cluster.pass(STARTING_MS);
    return cluster;
  }

  /** As a user asks: makes the class or changes what it says. */
  async ask(name: string, wish: Wish): Promise<void> {
    const classes = this.client.resource(CLASS_RUNTIMES);
    await classes.apply(classOf(NAMESPACE, name, wish), { fieldManager: "user", force: true });
  }

  async delete(name: string): Promise<void> {
    await this.client.resource(CLASS_RUNTIMES).delete({ namespace: NAMESPACE, name });
  }

  /** The phase that each class says it is in, by its name. */
  async phases(): Promise<Readonly<Record<string, string | undefined>>> {
    const { items } = await this.client.resource(CLASS_RUNTIMES).list({ namespace: NAMESPACE });
    return Object.fromEntries(items.map(({ metadata, status }) => [metadata.name, status?.phase]));
  }

  /** Lets virtual time pass; everything that has begun by then ends before the next timer fires, however many steps it takes. */
  async pass(ms: number): Promise<void> {
    await this.#ambient.time.advance(ms);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.manager.manager.stop();
    await this.#managersClient.close();
    await this.client.close();
    await this.server.close();
  }
}
