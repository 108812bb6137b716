import type { Ambient, Timer } from "@oaas/foundation";
import type { KubeObject } from "@oaas/kube-core";
import { KubeClient, resourceType, type Transport } from "@oaas/kube-runtime";
import type { RunningProcess } from "@oaas/real-components";
import { CLASS_RUNTIMES } from "../../clusters/install-crds.ts";
import type { SimulatedLoad } from "../../clusters/ports.ts";
import { formatExposition } from "../../load/exposition.ts";
import { LoadSimulation, SCRAPE_MS } from "../../load/load-simulation.ts";
import { startMetricsServer } from "../metrics-server.ts";
import { startPrometheus } from "./prometheus-process.ts";
import { startUsageApi } from "./usage-api.ts";

export interface RealMetrics {
  readonly load: SimulatedLoad;
  readonly process: RunningProcess;
  close(): Promise<void>;
}

const KINDS = [
  resourceType<KubeObject>({ group: "", version: "v1", kind: "Pod", resource: "pods", namespaced: true }),
  resourceType<KubeObject>({
    group: "apps",
    version: "v1",
    kind: "Deployment",
    resource: "deployments",
    namespaced: true,
  }),
  resourceType<KubeObject>({
    group: "apps",
    version: "v1",
    kind: "StatefulSet",
    resource: "statefulsets",
    namespaced: true,
  }),
  resourceType<KubeObject>({
    group: "autoscaling",
    version: "v2",
    kind: "HorizontalPodAutoscaler",
    resource: "horizontalpodautoscalers",
    namespaced: true,
  }),
  CLASS_RUNTIMES,
];
const READ_DEADLINE_MS = 4000;
const MAX_OBJECTS = 1000;

/**
 * Starts a real Prometheus that scrapes the simulated load of a cluster: KWOK runs no containers, so that nothing else
 * could measure requests.
 */
export async function startRealMetrics(
  folder: string,
  connect: () => Transport,
  ambient: Ambient,
): Promise<RealMetrics> {
  let objects: ReadonlyMap<string, readonly unknown[]> = new Map();
  const load = new LoadSimulation({
    clock: ambient.clock,
    timers: ambient.timers,
    list: ({ resource }) => objects.get(resource) ?? [],
  });
  const target = await startMetricsServer(({ path: requested }) =>
    requested === "/metrics"
      ? {
          status: 200,
          contentType: "text/plain; version=0.0.4",
          body: formatExposition(load.store, ambient.clock.now()),
        }
      : { status: 404, contentType: "text/plain", body: "not found\n" },
  );
  const client = new KubeClient({ transport: connect(), ambient, userAgent: "oaas-local-stack" });
  const poll = startPolling(ambient, async () => {
    objects = await readObjects(client);
    load.advance();
  });
  const closeAll = async (): Promise<void> => {
    poll.stop();
    await usage?.close();
    await target.close();
    await client.close();
  };
  let usage: { close(): Promise<void> } | undefined;
  try {
    const { url, process } = await startPrometheus(folder, [
      {
        job_name: "simulated-load",
        honor_labels: true,
        scrape_interval: "5s",
        static_configs: [{ targets: [new URL(target.url).host] }],
      },
    ]);
    usage = await startUsageApi({
      client,
      clock: ambient.clock,
      pods: () => objects.get("pods") ?? [],
      usageOf: (pod) => load.usageOf(pod),
    }).catch(async (thrown: unknown) => {
      await process.stop();
      throw thrown;
    });
    return {
      load: {
        metricsUrl: url,
        servesUsage: true,
        setSpike: (hasSpike) => load.setSpike(hasSpike),
        states: () => load.states,
      },
      process,
      close: async () => {
        await process.stop();
        await closeAll();
      },
    };
  } catch (thrown) {
    await closeAll();
    throw thrown;
  }
}

async function readObjects(client: KubeClient): Promise<ReadonlyMap<string, readonly unknown[]>> {
  const lists = await Promise.all(
    KINDS.map(async (kind) => {
      const page = await client.resource(kind).list({ limit: MAX_OBJECTS }, { deadlineMs: READ_DEADLINE_MS });
      return [kind.resource, page.items] as const;
    }),
  );
  return new Map(lists);
}

/** Repeats an action; a failed one is repeated too, and the last state stays. */
function startPolling({ timers }: Ambient, act: () => Promise<void>): { stop(): void } {
  let isStopped = false;
  let timer: Timer | undefined;
  const schedule = (): void => {
    if (isStopped) return;
    timer = timers.after(SCRAPE_MS, () => {
      // The API server may restart: the next pass reads it again.
      void act()
        .catch(() => undefined)
        .finally(schedule);
    });
  };
  schedule();
  return {
    stop: () => {
      isStopped = true;
      timer?.cancel();
    },
  };
}
