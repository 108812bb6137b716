import { createRestClient, type FetchPort, type RestClient } from "@oaas/contracts/rest";
import { abortFault, Fault, isFault, retry, sleep, startDeadline, type Ambient } from "@oaas/foundation";
import type { Progress } from "../clusters/ports.ts";
import { sideBySide } from "../clusters/side-by-side.ts";
import { LastLook } from "../last-look.ts";
import { placeExamples } from "./place-examples.ts";
import type { DeploymentState, PackageManagerState } from "./platform-state.ts";
import type { Example, KnownCluster, PackageManagerStarter, RunningPackageManager } from "./ports.ts";

export interface StackPlatformPorts {
  readonly ambient: Ambient;
  readonly fetch: FetchPort;
  readonly packageManager: PackageManagerStarter;
  /** What every start deploys when it is not there; nothing where the clusters are somebody's own. */
  readonly examples: () => readonly Example[];
}

/** Patience for an example: it is shown as it is when that ends. */
const READY_WITHIN_MS = 60_000;
const LOOK_DEADLINE_MS = 2_000;
const POLL_MS = 200;
const RETRIES = 8;
const SHOWN_DEPLOYMENTS = 20;

/** The package manager of the stack, and the examples that are deployed through it. */
export class StackPlatform {
  readonly #ports: StackPlatformPorts;
  readonly #seen: LastLook<readonly DeploymentState[]>;
  #manager: RunningPackageManager | undefined;
  #client: RestClient | undefined;
  #url: string | undefined;
  /** The examples are there too. */
  #isUp = false;
  #clusters: readonly KnownCluster[] = [];
  /** What was broken on purpose, in words. */
  #broken: string | undefined;

  constructor(ports: StackPlatformPorts) {
    this.#ports = ports;
    this.#seen = new LastLook(ports.ambient.clock);
  }

  /** Refuses a taken port, before anything is started. */
  check(): Promise<void> {
    return this.#ports.packageManager.check();
  }

  /** Starts the package manager over these clusters, and where there are some deploys the examples to all of them through its REST interface. */
  async start(clusters: readonly KnownCluster[], progress: Progress, signal?: AbortSignal): Promise<string> {
    progress.now("package manager");
    this.#clusters = clusters;
    this.#manager = await this.#ports.packageManager.start(clusters);
    const { url } = this.#manager;
    this.#url = url;
    this.#client = createRestClient({ baseUrl: url, fetch: this.#ports.fetch, clock: this.#ports.ambient.clock });
    if (clusters.length > 0) await this.#deployExamples(this.#client, progress, signal);
    this.#isUp = true;
    return url;
  }

  /** All at once: most of the time of each is waiting for its pods. */
  async #deployExamples(client: RestClient, progress: Progress, signal?: AbortSignal): Promise<void> {
    const names = this.#clusters.map(({ name }) => name);
    const examples = placeExamples(this.#ports.examples(), names);
    const each = sideBySide(
      progress,
      examples.map((example) => `deployment ${keyOf(example)}`),
    );
    await Promise.all(
      examples.map((example, index) =>
        this.#deploy(client, example, each[index] ?? progress, signal).catch((thrown: unknown) => {
          if (signal?.aborted) throw abortFault(signal);
          progress.note(`The example ${keyOf(example)} could not be deployed: ${Fault.from(thrown).message}`);
        }),
      ),
    );
  }

  /** How it is now; asks the package manager. Never throws. */
  async look(): Promise<PackageManagerState> {
    const known = { url: this.#url, broken: this.#broken };
    if (this.#client === undefined)
      return { ...known, state: "starting", detail: "waits for the clusters", deployments: [] };
    const client = this.#client;
    try {
      const deployments = await this.#seen.at(() => this.#deployments(client));
      if (!this.#isUp) return { ...known, state: "starting", detail: "deploys the examples", deployments };
      return { ...known, state: "running", detail: undefined, deployments };
    } catch (thrown) {
      const detail = this.#broken ?? Fault.from(thrown).message;
      // A start that fails ends the process; until then it goes on, however slowly.
      return { ...known, state: this.#isUp ? "failed" : "starting", detail, deployments: [] };
    }
  }

  /** Ends the package manager. */
  async close(): Promise<void> {
    await this.#manager?.close();
  }

  /** The package manager is gone from one moment to the next; its journal stays. */
  async kill(): Promise<void> {
    this.#broken = "killed, on purpose";
    const manager = this.#manager;
    this.#manager = undefined;
    this.#seen.forget();
    await manager?.kill();
  }

  /** Starts it again, on the same address, over the same clusters. */
  async revive(): Promise<void> {
    this.#manager = await this.#ports.packageManager.start(this.#clusters);
    this.#broken = undefined;
  }

  /** A cluster that does not answer delays the package manager's answer; whoever looks does not wait for that. */
  async #deployments(client: RestClient): Promise<DeploymentState[]> {
    using deadline = startDeadline(this.#ports.ambient, LOOK_DEADLINE_MS);
    const { signal } = deadline;
    const { value } = await client.call("listDeployments", { query: { limit: SHOWN_DEPLOYMENTS }, signal });
    return await Promise.all(
      value.map(({ key }) =>
        client.call("getDeploymentStatus", { parameters: { key }, signal }).then(
          ({ value: { condition, clusters } }): DeploymentState => ({
            key,
            condition,
            clusters: clusters.map((one) => ({ name: one.cluster, condition: one.condition })),
          }),
          (): DeploymentState => ({ key, condition: "Unknown", clusters: [] }),
        ),
      ),
    );
  }

  /** Whatever is there is its owner's, also when it differs. */
  async #deploy(client: RestClient, example: Example, progress: Progress, signal?: AbortSignal): Promise<void> {
    const key = keyOf(example);
    progress.now("sent");
    const isThere = await client.call("getDeployment", { parameters: { key } }).then(
      () => true,
      (thrown: unknown) => {
        if (isFault(thrown, "not-found")) return false;
        throw thrown;
      },
    );
    if (!isThere) await this.#create(client, example, progress);
    await this.#untilRunning(client, key, progress, signal);
  }

  async #create(client: RestClient, example: Example, progress: Progress): Promise<void> {
    const query = { reason: "an example of the local stack" };
    await client.call("createPackage", { body: example.package, query }).catch((thrown: unknown) => {
      if (!isFault(thrown, "already-exists")) throw thrown;
    });
    const { timers, random } = this.#ports.ambient;
    const onRetry = (fault: Fault): void => progress.now(`sent, ${fault.message}`);
    await retry({ timers, random, retries: RETRIES, onRetry }, () =>
      client.call("createDeployment", { body: example.deployment, query }),
    );
  }

  /** In the clusters of this start: one that was left out does not come, however long it is waited for. */
  async #untilRunning(client: RestClient, key: string, progress: Progress, signal?: AbortSignal): Promise<void> {
    const { clock, timers } = this.#ports.ambient;
    const endsAt = clock.monotonic() + READY_WITHIN_MS;
    for (;;) {
      const { value } = await client.call("getDeploymentStatus", { parameters: { key } });
      if (value.condition === "Running") return progress.now("running");
      const where = value.clusters.map(({ cluster, condition }) => `${cluster} ${condition}`);
      progress.now(`sent, ${where.join(", ")}`);
      const absent = value.clusters.filter(({ cluster }) => !this.#clusters.some(({ name }) => name === cluster));
      const isRunningHere = value.clusters.every((one) => one.condition === "Running" || absent.includes(one));
      if ((absent.length > 0 && isRunningHere) || clock.monotonic() > endsAt) return;
      await sleep(timers, POLL_MS, signal);
    }
  }
}

function keyOf({ deployment }: Example): string {
  return String(deployment["key"]);
}
