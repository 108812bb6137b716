import { chmod, cp, mkdir, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo, type Server } from "node:net";
import path from "node:path";
import { startNodeCluster, type NodeCluster } from "@oaas/real-components";
import { makeRunFolder, type RunFolder } from "@oaas/testkit";
import { oaas, type CommandOutcome } from "../../../apps/dev-stack/test/stack-process.ts";
import { Helm } from "./helm.ts";
import { writeNodeImages } from "./node-images.ts";
import { writePlatformImages } from "./platform-images.ts";

const ROOT = path.resolve(import.meta.dirname, "..", "..", "..");

/** The namespace of the platform, as in the guide. */
export const NAMESPACE = "oaas-system";

/** A cluster with a real node that has the images of the platform, and Helm with a copy of the charts. */
export class NodePlatform {
  readonly cluster: NodeCluster;
  readonly helm: Helm;
  /** The folder of the copied charts. */
  readonly charts: string;
  readonly folder: RunFolder;
  readonly #forwards: Server[] = [];

  private constructor(parts: { cluster: NodeCluster; helm: Helm; charts: string; folder: RunFolder }) {
    this.cluster = parts.cluster;
    this.helm = parts.helm;
    this.charts = parts.charts;
    this.folder = parts.folder;
  }

  /** Builds the images in the present and the next version, and starts the cluster with them. */
  static async start(versions: { readonly present: string; readonly next: string }): Promise<NodePlatform> {
    const folder = await makeRunFolder("node-platform");
    const at = (name: string): string => path.join(folder.path, name);
    let cluster: NodeCluster | undefined;
    try {
      await mkdir(at("images"));
      await mkdir(at("cluster"));
      const platform = await writePlatformImages(at("images"), versions.present, [versions.next]);
      cluster = await startNodeCluster({
        name: "node",
        folder: at("cluster"),
        fsync: false,
        nodes: 1,
        images: async (target) => [await writeNodeImages(target), ...platform],
      });
      const helm = new Helm(folder.path, cluster.kubeconfig);
      const charts = await helm.copyCharts();
      await cp(path.join(ROOT, "examples", "packages"), at("examples/packages"), { recursive: true });
      await writeShim(at("bin"));
      return new NodePlatform({ cluster, helm, charts, folder });
    } catch (thrown) {
      await cluster?.stop(0);
      await folder.remove();
      throw thrown;
    }
  }

  async close(): Promise<void> {
    for (const server of this.#forwards.splice(0)) server.close();
    await this.cluster.stop(0);
    await this.folder.remove();
  }

  async kubectl(args: readonly string[], stdin = ""): Promise<string> {
    const { stdout, stderr, exitCode } = await this.cluster.kubectl(args, { stdin });
    if (exitCode !== 0) throw new Error(`kubectl ${args.join(" ")}: ${stderr}`);
    return stdout;
  }

  /** kubectl in the namespace of the platform; the arguments contain no spaces. */
  inNamespace(args: string): Promise<string> {
    return this.kubectl(["-n", NAMESPACE, ...args.split(" ")]);
  }

  async get<T>(what: string): Promise<T> {
    return JSON.parse(await this.kubectl([..."get -o json".split(" "), ...what.split(" ")])) as T;
  }

  async apply(objects: readonly object[]): Promise<void> {
    await this.kubectl(["apply", "-f", "-"], JSON.stringify({ apiVersion: "v1", kind: "List", items: objects }));
  }

  /** Runs commands of a guide in a shell that has `helm`, `kubectl` and `oaas`. */
  async guide(commands: string): Promise<string> {
    const bin = path.join(this.folder.path, "bin");
    const { stdout, stderr, exitCode } = await this.helm.shell(`PATH=${bin}:$PATH\n${commands}`);
    if (exitCode !== 0) throw new Error(`${commands}\n${stdout}${stderr}`);
    return stdout;
  }

  /** A URL on loopback whose connections go to a port of a Service, each to one of its pods. */
  async forward(service: string, port: number): Promise<string> {
    const host = (await this.inNamespace(`get service ${service} -o jsonpath={.spec.clusterIP}`)).trim();
    const server = createServer((socket) => {
      socket.on("error", () => socket.destroy());
      this.cluster.dial(host, port).then(
        (upstream) => {
          upstream.on("error", () => socket.destroy());
          socket.pipe(upstream).pipe(socket);
        },
        () => socket.destroy(),
      );
    });
    this.#forwards.push(server);
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  /** The token of the administrator that the chart created. */
  async token(): Promise<string> {
    const encoded = await this.inNamespace("get secret oprc-pm-tokens -o jsonpath={.data.token}");
    return Buffer.from(encoded, "base64").toString();
  }
}

/** The command line as a user of one package manager. */
export class User {
  readonly #env: Readonly<Record<string, string>>;
  readonly #folder: string;

  constructor(url: string, token: string, folder: string) {
    this.#env = { OAAS_PM_URL: url, OAAS_TOKEN: token };
    this.#folder = folder;
  }

  run(...args: readonly string[]): Promise<CommandOutcome> {
    return oaas(args, { env: this.#env });
  }

  /** Returns the output; throws if the command fails. */
  async call(...args: readonly string[]): Promise<string> {
    const { exitCode, stdout, stderr } = await this.run(...args);
    if (exitCode !== 0) throw new Error(`oaas ${args.join(" ")}: ${stdout}${stderr}`);
    return stdout;
  }

  /** Applies documents and waits until their deployments run. */
  async apply(documents: readonly object[]): Promise<string> {
    const file = path.join(this.#folder, "apply.json");
    await writeFile(file, documents.map((each) => JSON.stringify(each)).join("\n---\n"));
    return this.call("apply", "-f", file, "--wait");
  }
}

/** Writes the command `oaas`, which a user would have installed. */
async function writeShim(folder: string): Promise<void> {
  await mkdir(folder);
  const file = path.join(folder, "oaas");
  await writeFile(file, `#!/bin/sh\nexec ${process.execPath} ${path.join(ROOT, "apps/cli/src/main.ts")} "$@"\n`);
  await chmod(file, 0o755);
}
