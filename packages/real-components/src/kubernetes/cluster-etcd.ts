import { join } from "node:path";
import { etcdArgs } from "../etcd/etcd-args.ts";
import { onFreePorts } from "../process/free-ports.ts";
import { probe } from "../process/http-probe.ts";
import type { RunningProcess } from "../process/running-process.ts";
import { startInFolder } from "./cluster-folder.ts";

/** The etcd of one cluster. */
export interface ClusterEtcd {
  readonly process: RunningProcess;
  readonly url: string;
}

/** Starts the etcd of a cluster with the existing data of the folder and waits until it serves. */
export function startClusterEtcd(folder: string, fsync: boolean): Promise<ClusterEtcd> {
  return onFreePorts(3, async (ports) => {
    const [url = "", peerUrl = "", healthUrl = ""] = ports.map((port) => `http://127.0.0.1:${port}`);
    const dataDir = join(folder, "etcd");
    const spec = { name: "m1", dataDir, clientUrl: url, peerUrl, healthUrl, initialCluster: `m1=${peerUrl}`, fsync };
    const server = await startInFolder(folder, {
      program: "etcd",
      args: etcdArgs(spec),
      isReady: async () => (await probe(`${healthUrl}/health`)).status === 200,
    });
    return { process: server, url };
  });
}
