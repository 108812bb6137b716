import { existsSync } from "node:fs";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { get as getHttp } from "node:http";
import { get as getHttps } from "node:https";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import {
  probe,
  runCommand,
  startProcess,
  type CommandResult,
  type KubernetesUnderTest,
  type ProcessUnderTest,
} from "@oaas/testkit";

const ROOT = path.resolve(import.meta.dirname, "..", "..", "..");
const SERVICE_NAMES = path.join(import.meta.dirname, "programs", "service-names.ts");

/** An object of a rendered chart, as far as pods depend on it. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  /** Of a ConfigMap. */
  readonly data?: Readonly<Record<string, string>>;
  readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> };
  readonly spec?: {
    readonly selector?: Readonly<Record<string, unknown>>;
    readonly template?: { readonly metadata: { readonly labels: Labels }; readonly spec: PodSpec };
  };
}

type Labels = Readonly<Record<string, string>>;

interface PodSpec {
  readonly serviceAccountName?: string;
  readonly automountServiceAccountToken?: boolean;
  readonly containers: readonly Container[];
  readonly volumes?: readonly Volume[];
}

interface Volume {
  readonly name: string;
  readonly secret?: { readonly secretName: string };
}

interface Container {
  readonly name: string;
  readonly image: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly env?: readonly EnvVar[];
  readonly envFrom?: readonly { readonly configMapRef: { readonly name: string } }[];
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
  readonly startupProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly livenessProbe?: Probe;
}

interface EnvVar {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: {
    readonly fieldRef?: { readonly fieldPath: string };
    readonly secretKeyRef?: { readonly name: string; readonly key: string };
  };
}

interface Probe {
  readonly httpGet?: { readonly path: string; readonly port: string; readonly scheme?: string };
  readonly tcpSocket?: { readonly port: string };
}

/** A program that runs as a pod of the installation. */
export interface InstalledPod {
  readonly address: string;
  readonly process: ProcessUnderTest;
  /** The folder that stands for the root of its file system. */
  readonly root: string;
  /** What the kubelet's probe gets: status (0 without a connection) and body. */
  probe(kind: "startupProbe" | "readinessProbe" | "livenessProbe"): Promise<{ status: number; body: string }>;
  log(): Promise<string>;
  stop(graceMs?: number): Promise<number | null>;
}

export interface InstallationOptions {
  readonly cluster: KubernetesUnderTest;
  readonly folder: string;
  readonly namespace: string;
  readonly manifests: readonly Manifest[];
}

const SYNC_MS = 300;

/**
 * Runs our programs as the kubelet would run the pods of a rendered chart: with exactly their environment, arguments,
 * mounted Secrets (kept up to date) and service account, and with the names of the Services.
 *
 * Differences: each pod has a loopback address of its own instead of a network; programs come from the sources; mounted
 * paths are folders below a root of the pod, and settings that name them are changed accordingly.
 */
export class Installation {
  readonly #options: InstallationOptions;
  readonly #pods: InstalledPod[] = [];
  readonly #base = `127.${64 + (process.pid % 128)}.${(process.pid >> 7) % 256}`;

  constructor(options: InstallationOptions) {
    this.#options = options;
  }

  /** The address of the first pod of a workload, or of the test Job. */
  addressOf(workload: string): string {
    const index = this.#workloads().findIndex(({ metadata }) => metadata.name === workload);
    if (index < 0) throw new RangeError(`the manifests have no workload ${workload}`);
    return `${this.#base}.${index + 1}`;
  }

  /** Starts the pod of a Deployment or StatefulSet. Fails if a mounted Secret does not exist, as the kubelet does. */
  async start(workload: string, extraEnv: Readonly<Record<string, string>> = {}): Promise<InstalledPod> {
    const { spec } = this.#workload(workload);
    const [container] = spec.containers;
    if (container === undefined) throw new RangeError(`${workload} has no container`);
    const address = this.addressOf(workload);
    const root = path.join(this.#options.folder, workload);
    const mounts = await this.#mount(spec, container, root);
    const env = { ...(await this.#environment(spec, container, workload, { address, root })), ...extraEnv };
    const logFile = path.join(this.#options.folder, `${workload}-${crypto.randomUUID()}.log`);
    const program = path.join(ROOT, "apps", programOf(container.image), "src", "main.ts");
    const process_ = await startProcess({
      name: workload,
      command: process.execPath,
      args: [program, ...(container.args ?? [])],
      cwd: root,
      logFile,
      env,
    });
    const stopped = new AbortController();
    void this.#keepInSync(mounts, stopped.signal);
    const pod: InstalledPod = {
      address,
      process: process_,
      root,
      probe: (kind) => sendProbe(container[kind], container, address),
      log: () => readFile(logFile, "utf8").catch(() => ""),
      stop: async (graceMs = 30_000) => {
        stopped.abort();
        return (await process_.stop(graceMs)).code;
      },
    };
    this.#pods.push(pod);
    return pod;
  }

  /** Runs the command of a Job, such as a test of `helm test`. */
  async runJob(name: string): Promise<CommandResult> {
    const [container] = this.#workload(name).spec.containers;
    const [command, ...args] = container?.command ?? [];
    if (command !== "node") throw new RangeError(`the Job ${name} does not run node`);
    return runCommand(process.execPath, args, { env: this.#serviceNames() });
  }

  async close(): Promise<void> {
    await Promise.all(this.#pods.splice(0).map((pod) => pod.stop(0)));
  }

  #workloads(): readonly Manifest[] {
    return this.#options.manifests.filter(({ kind }) => ["Deployment", "StatefulSet", "Job"].includes(kind));
  }

  #workload(name: string): { readonly spec: PodSpec } {
    const template = this.#workloads().find(({ metadata }) => metadata.name === name)?.spec?.template;
    if (template === undefined) throw new RangeError(`the manifests have no workload ${name}`);
    return template;
  }

  /** The environment that resolves the names of Services. */
  #serviceNames(): Record<string, string> {
    const { manifests, namespace } = this.#options;
    const names = manifests
      .filter(({ kind }) => kind === "Service")
      .flatMap(({ metadata: { name }, spec }) => {
        const workload = this.#workloads().find(({ kind, spec: pods }) => {
          const labels = pods?.template?.metadata.labels ?? {};
          return kind !== "Job" && Object.entries(spec?.selector ?? {}).every(([key, value]) => labels[key] === value);
        });
        if (workload === undefined) return [];
        const full = `${name}.${namespace}`;
        const address = this.addressOf(workload.metadata.name);
        return [name, full, `${full}.svc`, `${full}.svc.cluster.local`].map((host) => [host, address] as const);
      });
    return {
      NODE_OPTIONS: `--import=${SERVICE_NAMES}`,
      OAAS_TEST_SERVICES: JSON.stringify(Object.fromEntries(names)),
    };
  }

  async #environment(
    spec: PodSpec,
    container: Container,
    workload: string,
    { address, root }: { readonly address: string; readonly root: string },
  ): Promise<Record<string, string>> {
    const { namespace, manifests } = this.#options;
    const fields: Readonly<Record<string, string>> = {
      "metadata.name": `${workload}-0`,
      "metadata.namespace": namespace,
      "status.podIP": address,
    };
    const entries = await Promise.all(
      (container.env ?? []).map(async ({ name, value, valueFrom }) => {
        const { fieldRef, secretKeyRef } = valueFrom ?? {};
        if (fieldRef !== undefined) return [name, fields[fieldRef.fieldPath] ?? ""] as const;
        if (secretKeyRef === undefined) return [name, value ?? ""] as const;
        return [name, (await this.#secret(secretKeyRef.name)).get(secretKeyRef.key)?.toString() ?? ""] as const;
      }),
    );
    const settings = (container.envFrom ?? []).flatMap(({ configMapRef: { name } }) =>
      Object.entries(
        manifests.find(({ kind, metadata }) => kind === "ConfigMap" && metadata.name === name)?.data ?? {},
      ),
    );
    const env = Object.fromEntries(
      [...settings, ...entries].map(([name, value]) => [
        name,
        belowRoot(value, container, root).replace(/^0\.0\.0\.0$/, address),
      ]),
    );
    return {
      ...env,
      OPRC_CRM_HTTP_HOST: address,
      SERVER_HOST: address,
      ...this.#serviceNames(),
      ...(spec.automountServiceAccountToken === false ? {} : { KUBECONFIG: await this.#accountKubeconfig(spec) }),
    };
  }

  /** A kubeconfig with the token of the pod's service account. */
  async #accountKubeconfig({ serviceAccountName = "default" }: PodSpec): Promise<string> {
    const { cluster, folder, namespace } = this.#options;
    const { stdout, stderr, exitCode } = await cluster.kubectl([
      "create",
      "token",
      serviceAccountName,
      "-n",
      namespace,
    ]);
    if (exitCode !== 0) throw new Error(stderr);
    const file = path.join(folder, `${serviceAccountName}.kubeconfig`);
    const config = {
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name: "c", cluster: { server: cluster.url, "certificate-authority": cluster.caFile } }],
      users: [{ name: "u", user: { token: stdout.trim() } }],
      contexts: [{ name: "x", context: { cluster: "c", user: "u", namespace: "default" } }],
      "current-context": "x",
    };
    await writeFile(file, JSON.stringify(config), { mode: 0o600 });
    return file;
  }

  /** Creates the folders of the mounts. Returns the folders by the Secret that they hold. */
  async #mount(spec: PodSpec, container: Container, root: string): Promise<ReadonlyMap<string, string>> {
    const secrets = new Map<string, string>();
    await mkdir(root, { recursive: true });
    for (const { name, mountPath } of container.volumeMounts ?? []) {
      const folder = path.join(root, mountPath);
      await mkdir(folder, { recursive: true });
      const secret = spec.volumes?.find((volume) => volume.name === name)?.secret;
      if (secret !== undefined) secrets.set(folder, secret.secretName);
    }
    await this.#sync(secrets);
    return secrets;
  }

  /** Updates the mounted Secrets until the signal, one after the other: a busy machine must not collect requests. */
  async #keepInSync(mounts: ReadonlyMap<string, string>, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await pause(SYNC_MS, undefined, { signal }).catch(() => undefined);
      if (!signal.aborted) await this.#sync(mounts).catch(() => undefined);
    }
  }

  async #sync(mounts: ReadonlyMap<string, string>): Promise<void> {
    for (const [folder, name] of mounts) {
      for (const [key, content] of await this.#secret(name)) {
        const file = path.join(folder, key);
        if (existsSync(file) && content.equals(await readFile(file))) continue;
        await writeFile(`${file}.new`, content);
        await rename(`${file}.new`, file);
      }
    }
  }

  /** Reads a Secret without kubectl, which takes a tenth of a second of processor time per call. */
  async #secret(name: string): Promise<ReadonlyMap<string, Buffer>> {
    const { cluster, namespace } = this.#options;
    const { status, body } = await probe(`${cluster.url}/api/v1/namespaces/${namespace}/secrets/${name}`, {
      ca: await readFile(cluster.caFile, "utf8"),
      headers: { authorization: `Bearer ${cluster.token}` },
    });
    if (status !== 200) throw new Error(`MountVolume.SetUp failed: ${body}`);
    const { data = {} } = JSON.parse(body) as { data?: Readonly<Record<string, string>> };
    return new Map(Object.entries(data).map(([key, text]) => [key, Buffer.from(text, "base64")]));
  }
}

/** The folder of the app that an image contains. */
function programOf(image: string): string {
  const repository = image.replace(/(?::[^/]*|@.*)$/, "");
  return path.basename(repository);
}

/** A value in which the mounted paths are below the root. TMPDIR is that of the machine. */
function belowRoot(value: string, container: Container, root: string): string {
  const mounted = (container.volumeMounts ?? [])
    .map(({ mountPath }) => mountPath)
    .filter((folder) => folder !== "/tmp");
  if (mounted.length === 0) return value;
  const longestFirst = mounted.toSorted((a, b) => b.length - a.length).map((folder) => folder.replaceAll(".", "\\."));
  return value.replaceAll(new RegExp(longestFirst.join("|"), "g"), (folder) => path.join(root, folder));
}

async function sendProbe(
  wanted: Probe | undefined,
  container: Container,
  address: string,
): Promise<{ status: number; body: string }> {
  const { httpGet, tcpSocket } = wanted ?? {};
  const name = httpGet?.port ?? tcpSocket?.port;
  const port = container.ports?.find((candidate) => candidate.name === name)?.containerPort;
  if (port === undefined) throw new RangeError(`the container has no port ${name}`);
  const send = httpGet?.scheme === "HTTPS" ? getHttps : getHttp;
  return new Promise((resolve) => {
    // The kubelet does not verify certificates.
    const options = { host: address, port, path: httpGet?.path ?? "/", agent: false, rejectUnauthorized: false };
    const request = send({ ...options, timeout: 10_000 }, (response) => {
      let body = "";
      response.setEncoding("utf8").on("data", (part: string) => (body += part));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, body }));
    });
    request.on("timeout", () => request.destroy(new Error("no response")));
    request.on("error", (error) => resolve({ status: 0, body: error.message }));
  });
}
