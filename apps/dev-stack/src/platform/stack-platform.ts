import { createRestClient, type FetchPort, type RestClient } from "@oaas/contracts/rest";
import { Fault, isFault, retry, sleep, type Ambient } from "@oaas/foundation";
import type { Progress } from "../clusters/ports.ts";
import type { DeploymentState, PackageManagerState } from "./platform-state.ts";
import type { Example, KnownCluster, PackageManagerStarter, RunningPackageManager } from "./ports.ts";

export interface StackPlatformPorts {
  readonly ambient: Ambient;
  readonly fetch: FetchPort;
  readonly packageManager: PackageManagerStarter;
  /** What every start deploys when it is not there. */
  readonly example: () => Example;
}

/** Patience for the example: it is shown as it is when that ends. */
const READY_WITHIN_MS = 60_000;
const POLL_MS = 200;
const RETRIES = 8;
const SHOWN_DEPLOYMENTS = 20;

/** The package manager of the stack, and the example that is deployed through it. */
export class StackPlatform {
  readonly #ports: StackPlatformPorts;
  #manager: RunningPackageManager | undefined;
  #client: RestClient | undefined;

  constructor(ports: StackPlatformPorts) {
    this.#ports = ports;
  }

  /** Refuses a taken port, before anything is started. */
  check(): Promise<void> {
    return this.#ports.packageManager.check();
  }

  /** Starts the package manager over these clusters, and where there are some deploys the example to all of them through its REST interface. */
  async start(clusters: readonly KnownCluster[], progress: Progress): Promise<string> {
    progress.now("package manager");
    this.#manager = await this.#ports.packageManager.start(clusters);
    const { url } = this.#manager;
    this.#client = createRestClient({ baseUrl: url, fetch: this.#ports.fetch, clock: this.#ports.ambient.clock });
    if (clusters.length > 0) {
      const { package: whole, deployment } = this.#ports.example();
      const everywhere = { ...deployment, target_clusters: clusters.map(({ name }) => name) };
      await this.#deploy(this.#client, { package: whole, deployment: everywhere }, progress).catch(
        (thrown: unknown) => {
          progress.note(`The example could not be deployed: ${Fault.from(thrown).message}`);
        },
      );
    }
    return url;
  }

  /** How it is now; asks the package manager. Never throws. */
  async look(): Promise<PackageManagerState> {
    const url = this.#manager?.url;
    if (this.#client === undefined)
      return { state: "starting", detail: "waits for the clusters", url, deployments: [] };
    try {
      const deployments = await this.#deployments(this.#client);
      return { state: "running", detail: undefined, url, deployments };
    } catch (thrown) {
      return { state: "failed", detail: Fault.from(thrown).message, url, deployments: [] };
    }
  }

  /** Ends the package manager. */
  async close(): Promise<void> {
    await this.#manager?.close();
  }

  async #deployments(client: RestClient): Promise<DeploymentState[]> {
    const { value } = await client.call("listDeployments", { query: { limit: SHOWN_DEPLOYMENTS } });
    return Promise.all(
      value.map(async ({ key }) => {
        const { value: status } = await client.call("getDeploymentStatus", { parameters: { key } });
        return {
          key,
          condition: status.condition,
          clusters: status.clusters.map(({ cluster, condition }) => ({ name: cluster, condition })),
        };
      }),
    );
  }

  /** Whatever is there is its owner's, also when it differs. */
  async #deploy(client: RestClient, example: Example, progress: Progress): Promise<void> {
    const key = String(example.deployment["key"]);
    const reason = "the example of the local stack";
    progress.now(`deployment ${key}`);
    await client.call("createPackage", { body: example.package, query: { reason } }).catch((thrown: unknown) => {
      if (!isFault(thrown, "already-exists")) throw thrown;
    });
    const isThere = await client.call("getDeployment", { parameters: { key } }).then(
      () => true,
      (thrown: unknown) => {
        if (isFault(thrown, "not-found")) return false;
        throw thrown;
      },
    );
    const { timers, random } = this.#ports.ambient;
    if (!isThere) {
      const onRetry = (fault: Fault): void => progress.now(`deployment ${key}, ${fault.message}`);
      await retry({ timers, random, retries: RETRIES, onRetry }, () =>
        client.call("createDeployment", { body: example.deployment, query: { reason } }),
      );
    }
    await this.#untilRunning(client, key, progress);
  }

  async #untilRunning(client: RestClient, key: string, progress: Progress): Promise<void> {
    const { clock, timers } = this.#ports.ambient;
    const endsAt = clock.monotonic() + READY_WITHIN_MS;
    for (;;) {
      const { value } = await client.call("getDeploymentStatus", { parameters: { key } });
      const where = value.clusters.map(({ cluster, condition }) => `${cluster} ${condition}`);
      progress.now(`deployment ${key}, ${where.join(", ")}`);
      if (value.condition === "Running" || clock.monotonic() > endsAt) return;
      await sleep(timers, POLL_MS);
    }
  }
}
