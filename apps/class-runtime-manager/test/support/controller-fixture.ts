import type { ClassRuntime } from "@oaas/contracts/crd";
import { realAmbient } from "@oaas/foundation/real";
import type { KubeObject } from "@oaas/kube-core";
import { KubeClient, type Transport } from "@oaas/kube-runtime";
import { createUndiciTransport, loadAccess } from "@oaas/kube-runtime/node";
import { eventually, type KubernetesOptions, type KubernetesUnderTest } from "@oaas/testkit";
import { createClassManager, type ClassManager, type ClassManagerOptions } from "../../src/controller/class-manager.ts";
import type { ConfiguredFacts } from "../../src/controller/cluster/cluster-facts.ts";
import { startClassCluster } from "./class-cluster.ts";

/** Configured facts for tests. */
export const FACTS: ConfiguredFacts = {
  profile: "dev",
  features: { odgm: true, hpa: true, knative: true, prometheus: false },
  flags: { isEdge: false, isDatacenter: false },
  odgm: { image: "example.test/odgm:1" },
  telemetry: { enabled: false },
  maxReplicas: 20,
};

/** Builds a class runtime; `over` overrides fields of the spec. */
export function classManifest(name: string, over: object = {}): object {
  const fn = { function_key: "f", provision_config: { container_image: "example.test/fn:1" } };
  return {
    apiVersion: "oaas.io/v1alpha1",
    kind: "ClassRuntime",
    metadata: { name },
    spec: { package_class_key: "shop.Order", functions: [fn], ...over },
  };
}

/** A cluster with our CRDs and simulated nodes, and helpers to inspect classes in it. */
export class ControllerFixture {
  readonly cluster: KubernetesUnderTest;
  readonly #managers: ClassManager[] = [];
  readonly #clients: KubeClient[] = [];

  private constructor(cluster: KubernetesUnderTest) {
    this.cluster = cluster;
  }

  static async start(options: KubernetesOptions = {}): Promise<ControllerFixture> {
    const components = { controllerManager: true, scheduler: true, kwokNodes: 2 };
    return new ControllerFixture(await startClassCluster({ ...components, ...options }));
  }

  async close(): Promise<void> {
    for (const manager of this.#managers) await manager.manager.stop();
    for (const client of this.#clients) await client.close();
    await this.cluster.close();
  }

  /** Starts the controllers with administrator credentials or with a token. */
  async startController(
    options: Pick<ClassManagerOptions, "namespaces"> & Partial<ClassManagerOptions> & { readonly token?: string },
  ): Promise<ClassManager> {
    const { token, ...rest } = options;
    const client = this.createClient(token);
    const crm = createClassManager({ client, ambient: realAmbient, facts: FACTS, identity: "test", ...rest });
    this.#managers.push(crm);
    crm.manager.start();
    await eventually(() => crm.manager.isWorking, { timeoutMs: 60_000, what: "the controllers to run" });
    return crm;
  }

  /** A client with administrator credentials or with a token; `wrap` changes what the server seems to be. */
  createClient(token?: string, wrap: (transport: Transport) => Transport = (transport) => transport): KubeClient {
    const access = loadAccess({ env: {}, kubeconfig: this.cluster.kubeconfig });
    const effective = token === undefined ? access : { ...access, credentials: { type: "token", token } as const };
    const client = new KubeClient({
      transport: wrap(createUndiciTransport(effective, realAmbient)),
      ambient: realAmbient,
    });
    this.#clients.push(client);
    return client;
  }

  async kubectl(command: string | readonly string[], stdin?: string): Promise<string> {
    const args = typeof command === "string" ? command.split(" ") : command;
    const { stdout, stderr, exitCode } = await this.cluster.kubectl(args, stdin === undefined ? {} : { stdin });
    if (exitCode !== 0) throw new Error(`kubectl ${args.join(" ")}: ${stderr}`);
    return stdout;
  }

  apply(namespace: string, ...items: readonly object[]): Promise<string> {
    return this.kubectl(`apply -n ${namespace} -f -`, JSON.stringify({ apiVersion: "v1", kind: "List", items }));
  }

  async get<T extends KubeObject>(namespace: string, kind: string, name: string): Promise<T | undefined> {
    const text = await this.kubectl(`get ${kind} ${name} -n ${namespace} -o json --ignore-not-found`);
    return text === "" ? undefined : (JSON.parse(text) as T);
  }

  /** The status of a class runtime, or of another kind as `<kind>/<name>`. */
  async status(namespace: string, name: string): Promise<ClassRuntime["status"]> {
    const [kind, objectName] = name.includes("/") ? name.split("/", 2) : ["crt", name];
    return (await this.get<ClassRuntime & KubeObject>(namespace, kind ?? "", objectName ?? ""))?.status;
  }

  /** Waits until the status of a class matches. */
  async waitForStatus(
    namespace: string,
    name: string,
    what: string,
    matches: (status: NonNullable<ClassRuntime["status"]>) => boolean,
  ): Promise<NonNullable<ClassRuntime["status"]>> {
    return eventually(
      async () => {
        const status = await this.status(namespace, name);
        if (status !== undefined && matches(status)) return status;
        throw new Error(`${name}: ${status?.phase} ${status?.reason ?? ""}: ${status?.message ?? ""}`);
      },
      { timeoutMs: 90_000, what: `${name}: ${what}` },
    );
  }

  waitForPhase(namespace: string, name: string, phase: string): Promise<unknown> {
    return this.waitForStatus(namespace, name, phase, (status) => status.phase === phase);
  }

  /** Names of the objects of a kind that a class owns. */
  async listOwned(namespace: string, kind: string, owner: string): Promise<readonly string[]> {
    const names = await this.kubectl(`get ${kind} -n ${namespace} -l oaas.io/owner=${owner} -o name`);
    return names.split("\n").filter((line) => line !== "");
  }
}
