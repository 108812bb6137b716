import { createRestClient, type FetchPort, type RestClient } from "@oaas/contracts/rest";
import { abortFault, Fault, isFault, retry, sleep, startDeadline, type Ambient } from "@oaas/foundation";
import type { Progress } from "../clusters/progress.ts";
import { splitProgress } from "../clusters/progress.ts";
import { LastKnown } from "../last-known.ts";
import { selectExamples, type Example } from "./examples.ts";
import type {
  ConfiguredCluster,
  DeploymentExplanation,
  DeploymentState,
  PackageManagerStarter,
  PackageManagerState,
  RunningPackageManager,
  StackLab,
} from "./ports.ts";

export interface StackPackageManagerPorts {
  readonly ambient: Ambient;
  readonly fetch: FetchPort;
  readonly packageManager: PackageManagerStarter;
  /** The examples to deploy if missing; none in existing clusters. */
  readonly examples: () => readonly Example[];
}

/** How long a start waits for an example to run. */
const READY_TIMEOUT_MS = 60_000;
const READ_DEADLINE_MS = 2_000;
const POLL_MS = 200;
const RETRIES = 8;
const MAX_DEPLOYMENTS = 20;

/** The package manager of the stack and its example deployments. */
export class StackPackageManager {
  readonly #ports: StackPackageManagerPorts;
  readonly #lastDeployments: LastKnown<readonly DeploymentState[]>;
  #manager: RunningPackageManager | undefined;
  #client: RestClient | undefined;
  #url: string | undefined;
  /** Whether the start, including the examples, has finished. */
  #isUp = false;
  #clusters: readonly ConfiguredCluster[] = [];
  /** Description of the injected fault. */
  #fault: string | undefined;
  #lab: StackLab | undefined;

  constructor(ports: StackPackageManagerPorts) {
    this.#ports = ports;
    this.#lastDeployments = new LastKnown(ports.ambient.clock);
  }

  /** Offers fault injection to the console, from the next start on. */
  offerLab(lab: StackLab): void {
    this.#lab = lab;
  }

  /** Address of the console; undefined when it is not built or not running. */
  get consoleUrl(): string | undefined {
    return this.#manager?.hasConsole === true ? `${this.#manager.url}/` : undefined;
  }

  /** Rejects a port in use, before anything starts. */
  check(): Promise<void> {
    return this.#ports.packageManager.check();
  }

  /** Starts the package manager with these clusters and deploys the examples through its REST API. */
  async start(clusters: readonly ConfiguredCluster[], progress: Progress, signal?: AbortSignal): Promise<string> {
    progress.step("package manager");
    this.#clusters = clusters;
    this.#manager = await this.#ports.packageManager.start(clusters, this.#lab);
    const { url } = this.#manager;
    this.#url = url;
    this.#client = createRestClient({ baseUrl: url, fetch: this.#ports.fetch, clock: this.#ports.ambient.clock });
    if (clusters.length > 0) await this.#deployExamples(this.#client, progress, signal);
    this.#isUp = true;
    return url;
  }

  /** Deploys the examples in parallel: most of the time is spent waiting for pods. */
  async #deployExamples(client: RestClient, progress: Progress, signal?: AbortSignal): Promise<void> {
    const names = this.#clusters.map(({ name }) => name);
    const examples = selectExamples(this.#ports.examples(), names);
    const progresses = splitProgress(
      progress,
      examples.map((example) => `deployment ${keyOf(example)}`),
    );
    await Promise.all(
      examples.map((example, index) =>
        this.#deploy(client, example, progresses[index] ?? progress, signal).catch((thrown: unknown) => {
          if (signal?.aborted) throw abortFault(signal);
          progress.note(`Deploying the example ${keyOf(example)} failed: ${Fault.from(thrown).message}`);
        }),
      ),
    );
  }

  /** Reads the state from the package manager. Never throws. */
  async readState(): Promise<PackageManagerState> {
    const base = { url: this.#url, consoleUrl: this.consoleUrl, broken: this.#fault };
    if (this.#client === undefined)
      return { ...base, state: "starting", detail: "waiting for the clusters", deployments: [] };
    const client = this.#client;
    try {
      const deployments = await this.#lastDeployments.read(() => this.#deployments(client));
      if (!this.#isUp) return { ...base, state: "starting", detail: "deploying the examples", deployments };
      return { ...base, state: "running", detail: undefined, deployments };
    } catch (thrown) {
      const detail = this.#fault ?? Fault.from(thrown).message;
      // A failed start ends the process, so before that the state is starting.
      return { ...base, state: this.#isUp ? "failed" : "starting", detail, deployments: [] };
    }
  }

  /** Why a deployment is in its state, in words. Never throws. */
  async explain(key: string): Promise<DeploymentExplanation> {
    using deadline = startDeadline(this.#ports.ambient, READ_DEADLINE_MS);
    try {
      if (this.#client === undefined) return { summary: "the package manager is starting", clusters: [] };
      const { signal } = deadline;
      const { value } = await this.#client.call("explainDeployment", { parameters: { key }, signal });
      return {
        summary: value.summary,
        clusters: value.clusters.map((one) => ({
          name: one.cluster,
          message: one.finding?.message ?? one.error ?? "",
        })),
      };
    } catch (thrown) {
      return { summary: Fault.from(thrown).message, clusters: [] };
    }
  }

  async close(): Promise<void> {
    await this.#manager?.close();
  }

  /** Injects a fault: the package manager stops at once. Its journal stays. */
  async kill(): Promise<void> {
    this.#fault = "injected fault: package manager killed";
    const manager = this.#manager;
    this.#manager = undefined;
    this.#lastDeployments.clear();
    await manager?.kill();
  }

  /** Restarts it with the same address and clusters. */
  async restart(): Promise<void> {
    this.#manager = await this.#ports.packageManager.start(this.#clusters, this.#lab);
    this.#fault = undefined;
  }

  /** Limited by a deadline, because an unreachable cluster delays the response of the package manager. */
  async #deployments(client: RestClient): Promise<DeploymentState[]> {
    using deadline = startDeadline(this.#ports.ambient, READ_DEADLINE_MS);
    const { signal } = deadline;
    const { value } = await client.call("listDeployments", { query: { limit: MAX_DEPLOYMENTS }, signal });
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

  /** Does not change an existing deployment, even if it differs from the example. */
  async #deploy(client: RestClient, example: Example, progress: Progress, signal?: AbortSignal): Promise<void> {
    const key = keyOf(example);
    progress.step("requested");
    const exists = await client.call("getDeployment", { parameters: { key } }).then(
      () => true,
      (thrown: unknown) => {
        if (isFault(thrown, "not-found")) return false;
        throw thrown;
      },
    );
    if (!exists) await this.#create(client, example, progress);
    await this.#untilRunning(client, key, progress, signal);
  }

  async #create(client: RestClient, example: Example, progress: Progress): Promise<void> {
    const query = { reason: "example of the local stack" };
    await client.call("createPackage", { body: example.package, query }).catch((thrown: unknown) => {
      if (!isFault(thrown, "already-exists")) throw thrown;
    });
    const { timers, random } = this.#ports.ambient;
    const onRetry = (fault: Fault): void => progress.step(`requested, ${fault.message}`);
    await retry({ timers, random, retries: RETRIES, onRetry }, () =>
      client.call("createDeployment", { body: example.deployment, query }),
    );
  }

  /** Waits for the clusters of this start only; a cluster that was left out never becomes ready. */
  async #untilRunning(client: RestClient, key: string, progress: Progress, signal?: AbortSignal): Promise<void> {
    const { clock, timers } = this.#ports.ambient;
    const endsAt = clock.monotonic() + READY_TIMEOUT_MS;
    for (;;) {
      const { value } = await client.call("getDeploymentStatus", { parameters: { key } });
      if (value.condition === "Running") return progress.step("running");
      const where = value.clusters.map(({ cluster, condition }) => `${cluster} ${condition}`);
      progress.step(`requested, ${where.join(", ")}`);
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
