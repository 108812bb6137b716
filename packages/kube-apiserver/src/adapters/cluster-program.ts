import { writeFile } from "node:fs/promises";
import path from "node:path";
import { parseArgs } from "node:util";
import { invalidArgument } from "@oaas/foundation";
import { preparePrivateFolder } from "@oaas/foundation/files";
import { realAmbient } from "@oaas/foundation/real";
import { openSqliteStore } from "@oaas/storage/sqlite";
import { startEmbedded } from "./start-embedded.ts";

/** The flags of `npm run cluster`. */
export interface ClusterSettings {
  readonly port: number;
  readonly nodes: number;
  /** The folder of objects and kubeconfig. */
  readonly data: string;
  /** Whether objects are lost when the process ends. */
  readonly isInMemory: boolean;
  readonly isSimulating: boolean;
}

export const CLUSTER_HELP = `One embedded Kubernetes cluster on loopback, for trying out; never for production.

  --port=N          port of the API server; 0 takes a free one (default 6443)
  --nodes=N         simulated nodes (default 3)
  --data=FOLDER     where objects and the kubeconfig are kept (default .oaas/cluster)
  --memory          forget all objects with the process
  --no-simulation   no nodes and no workloads: the API server alone, with garbage collection
  --help
`;

const MAX_PORT = 65_535;
const MAX_NODES = 1000;

/** Parses the flags; each error names its flag. Undefined for --help. */
export function clusterSettings(args: readonly string[]): ClusterSettings | undefined {
  const { values } = readFlags(args);
  if (values.help) return undefined;
  return {
    port: parseWholeNumber("port", values.port, 0, MAX_PORT),
    nodes: parseWholeNumber("nodes", values.nodes, 1, MAX_NODES),
    data: values.data,
    isInMemory: values.memory,
    isSimulating: !values["no-simulation"],
  };
}

function readFlags(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        port: { type: "string", default: "6443" },
        nodes: { type: "string", default: "3" },
        data: { type: "string", default: ".oaas/cluster" },
        memory: { type: "boolean", default: false },
        "no-simulation": { type: "boolean", default: false },
        help: { type: "boolean", default: false },
      },
    });
  } catch (thrown) {
    throw invalidArgument("flags", [{ path: "$", message: (thrown as Error).message, fix: "--help lists the flags" }]);
  }
}

function parseWholeNumber(flag: string, text: string, least: number, most: number): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw invalidArgument("flags", [
    { path: `$.${flag}`, message: `is not an integer from ${least} to ${most}: "${text}"`, fix: `give --${flag}=N` },
  ]);
}

/** A running cluster. */
export interface RunningProgram {
  readonly url: string;
  readonly kubeconfig: string;
  close(): Promise<void>;
}

/** Starts the cluster and writes its kubeconfig to the folder. */
export async function runCluster(settings: ClusterSettings): Promise<RunningProgram> {
  const { port, nodes, isInMemory, isSimulating } = settings;
  const data = path.resolve(settings.data);
  preparePrivateFolder(data, "kubeconfig");
  const store = isInMemory
    ? undefined
    : openSqliteStore({ ambient: realAmbient, file: path.join(data, "objects.sqlite") });
  const cluster = await startEmbedded({
    name: "oaas-embedded",
    port,
    ...(store === undefined ? {} : { store }),
    ...(isSimulating ? { simulation: { nodes } } : {}),
  }).catch(async (thrown: unknown) => {
    await store?.close();
    throw thrown;
  });
  const kubeconfig = path.join(data, "kubeconfig");
  await writeFile(kubeconfig, cluster.kubeconfig, { mode: 0o600 });
  return {
    url: cluster.url,
    kubeconfig,
    close: async () => {
      await cluster.close();
      await store?.close();
    },
  };
}
