import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { loadConfig } from "@oaas/config";
import type { Random } from "@oaas/foundation";
import { virtualAmbient } from "@oaas/foundation/virtual";
import { embeddedServer, faultyApi, MemoryTransport, type ApiServer, type FaultAction } from "@oaas/kube-apiserver";
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
import {
  classRuntimeOf,
  type DesiredClass,
} from "../../../apps/class-runtime-manager/test/support/namespace-snapshot.ts";
import { createRecordingApi } from "./recording-api.ts";

const CRDS = path.resolve(import.meta.dirname, "..", "..", "..", "deploy", "crds");
const DEFINITIONS = resourceType<KubeObject>({
  group: "apiextensions.k8s.io",
  version: "v1",
  kind: "CustomResourceDefinition",
  resource: "customresourcedefinitions",
  namespaced: false,
});
const CRD_MANIFESTS: readonly KubeObject[] = readdirSync(CRDS)
  .toSorted()
  .flatMap((file) => parseAllDocuments(readFileSync(path.join(CRDS, file), "utf8")))
  .map((document) => document.toJS() as KubeObject);
const NAMESPACE = "default";
const NODES = 3;
const START_MS = 1_000;

export interface ClassClusterOptions {
  /** Injects faults into the requests of the manager. */
  readonly fateOf?: (random: Random) => FaultAction | undefined;
  /** Records every request and response of the manager. */
  readonly record?: (text: string) => void;
}

/**
 * A cluster in this process without sockets, on seeded virtual time: API server, simulated workloads, class runtime
 * manager.
 */
export class ClassCluster implements AsyncDisposable {
  readonly server: ApiServer;
  /** The client of a user, without injected faults. */
  readonly client: KubeClient;
  readonly manager: ClassManager;
  readonly #ambient: ReturnType<typeof virtualAmbient>;
  readonly #managersClient: KubeClient;

  private constructor(seed: number, { fateOf = () => undefined, record = () => undefined }: ClassClusterOptions) {
    const ambient = virtualAmbient(seed);
    this.#ambient = ambient;
    this.server = embeddedServer({ ...ambient, simulation: { nodes: NODES } }).server;
    this.client = new KubeClient({ transport: new MemoryTransport(this.server), ambient });
    const api = createRecordingApi(
      faultyApi(this.server, ambient.timers, () => fateOf(ambient.random)),
      (text) => record(`${ambient.time.now()} ${text}`),
    );
    this.#managersClient = new KubeClient({ transport: new MemoryTransport(api), ambient });
    this.manager = createClassManager({
      client: this.#managersClient,
      ambient,
      namespaces: undefined,
      facts: configuredFacts(
        loadConfig(crmConfig, {
          env: { OPRC_CRM_TEMPLATES_ODGM_IMAGE: "example.test/odgm:1", OPRC_CRM_ODGM_HEALTH: "false" },
        }),
      ),
      identity: "one-process",
    });
  }

  /** Starts the cluster; the manager is running when this returns, unless too many faults were injected. */
  static async start(seed: number, options: ClassClusterOptions = {}): Promise<ClassCluster> {
    const cluster = new ClassCluster(seed, options);
    await cluster.server.start();
    for (const definition of CRD_MANIFESTS)
      await cluster.client.resource(DEFINITIONS).apply(definition, { fieldManager: "kubectl", force: true });
    await cluster.advance(START_MS);
    cluster.manager.manager.start();
    await cluster.advance(START_MS);
    return cluster;
  }

  /** Creates or updates a class as a user. */
  async applyClass(name: string, desired: DesiredClass): Promise<void> {
    const classes = this.client.resource(CLASS_RUNTIMES);
    await classes.apply(classRuntimeOf(NAMESPACE, name, desired), { fieldManager: "user", force: true });
  }

  async delete(name: string): Promise<void> {
    await this.client.resource(CLASS_RUNTIMES).delete({ namespace: NAMESPACE, name });
  }

  /** The phase of each class, by name. */
  async phases(): Promise<Readonly<Record<string, string | undefined>>> {
    const { items } = await this.client.resource(CLASS_RUNTIMES).list({ namespace: NAMESPACE });
    return Object.fromEntries(items.map(({ metadata, status }) => [metadata.name, status?.phase]));
  }

  /** Advances virtual time; all pending work completes before the next timer fires. */
  async advance(ms: number): Promise<void> {
    await this.#ambient.time.advance(ms);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.manager.manager.stop();
    await this.#managersClient.close();
    await this.client.close();
    await this.server.close();
  }
}
