import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { realAmbient } from "@oaas/foundation/real";
import type { KubeObject } from "@oaas/kube-core";
import { KubeClient, resourceType } from "@oaas/kube-runtime";
import { createUndiciTransport, loadAccess } from "@oaas/kube-runtime/node";
import { makeRunFolder, startCluster, type ClusterParts, type Kubectl } from "@oaas/real-components";

const CRDS = path.resolve(import.meta.dirname, "..", "..", "deploy", "crds");

const NAMESPACES = resourceType<KubeObject>({
  group: "",
  version: "v1",
  kind: "Namespace",
  resource: "namespaces",
  namespaced: false,
});

/** A real API server with our CRDs and capacity for thousands of classes. */
export interface CrmLab extends AsyncDisposable {
  readonly kubeconfig: string;
  readonly kubectl: Kubectl;
  /** A client without client-side limits. */
  readonly client: KubeClient;
  makeNamespace(name: string): Promise<void>;
  /** CPU time of the API server and its etcd so far; 0 if unknown. */
  serverCpuMs(): number;
}

/** Starts it, with controllers and simulated nodes if classes must become Available. */
export async function startLab(parts: ClusterParts = {}): Promise<CrmLab> {
  const folder = await makeRunFolder("crm-bench");
  const crdFiles = readdirSync(CRDS).map((file) => path.join(CRDS, file));
  const cluster = await startCluster({
    crdFiles,
    ...parts,
    name: "bench",
    folder: folder.path,
    fsync: false,
    // The default /24 of a test cluster allows only 254 Services.
    apiServerArgs: ["--service-cluster-ip-range=10.64.0.0/14"],
  });
  const client = freeClient(cluster.kubeconfig);
  return {
    kubeconfig: cluster.kubeconfig,
    kubectl: cluster.kubectl,
    client,
    makeNamespace: async (name) =>
      void (await client.resource(NAMESPACES).create({ apiVersion: "v1", kind: "Namespace", metadata: { name } })),
    serverCpuMs: () => cpuOfDescendants(["kube-apiserver", "etcd"]),
    [Symbol.asyncDispose]: async () => {
      await client.close();
      await cluster.stop(0);
      await folder.remove();
    },
  };
}

/** Linux reports CPU time in hundredths of a second. */
const TICK_MS = 10;

/** CPU time of descendants of this process with these names. */
function cpuOfDescendants(names: readonly string[]): number {
  if (process.platform !== "linux") return 0;
  const all = new Map(readdirSync("/proc").flatMap((pid) => statOf(pid) ?? []));
  const isOurs = (pid: number): boolean => pid === process.pid || (all.has(pid) && isOurs(all.get(pid)?.parent ?? 0));
  return [...all].reduce((sum, [pid, { name, cpuMs }]) => sum + (names.includes(name) && isOurs(pid) ? cpuMs : 0), 0);
}

interface ProcessStat {
  readonly name: string;
  readonly parent: number;
  readonly cpuMs: number;
}

function statOf(pid: string): [number, ProcessStat][] | undefined {
  if (!/^\d+$/.test(pid)) return undefined;
  try {
    const [, name = "", rest = ""] = /\((.*)\) (.*)/s.exec(readFileSync(`/proc/${pid}/stat`, "utf8")) ?? [];
    const [, parent, , , , , , , , , , user, system] = rest.split(" ").map(Number);
    return [[Number(pid), { name, parent: parent ?? 0, cpuMs: ((user ?? 0) + (system ?? 0)) * TICK_MS }]];
  } catch {
    return undefined; // It has ended.
  }
}

/** A client without client-side limits. */
export function freeClient(kubeconfig: string): KubeClient {
  return new KubeClient({
    transport: createUndiciTransport(loadAccess({ env: {}, kubeconfig }), realAmbient),
    ambient: realAmbient,
    flow: { perSecond: 1_000_000, burst: 1_000_000, inFlight: 1_000 },
  });
}

/** Processes all items with limited concurrency. */
export async function atOnce<T>(items: Iterable<T>, width: number, work: (item: T) => Promise<void>): Promise<void> {
  const iterator = items[Symbol.iterator]();
  const worker = async (): Promise<void> => {
    for (let next = iterator.next(); !next.done; next = iterator.next()) await work(next.value);
  };
  await Promise.all(Array.from({ length: width }, worker));
}

/** The percentile of the values. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(sorted.length * share) - 1))] ?? Number.NaN;
}
