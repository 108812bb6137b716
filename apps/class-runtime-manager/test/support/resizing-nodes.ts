import type { KubeClient } from "@oaas/kube-runtime";
import { equalJson, keyOf } from "@oaas/kube-core";
import { PODS } from "../../src/controller/kinds/resource-types.ts";

/** Nodes that resize pods. */
export interface ResizingNodes {
  stop(): Promise<void>;
}

const EVERY_MS = 100;

/**
 * Reports the resources of running containers in the status of their pods, as a kubelet does and simulated nodes do not.
 * The server accepts a resize only of such pods.
 */
export function startResizingNodes(client: KubeClient, namespace: string): ResizingNodes {
  const stop = new AbortController();
  const report = async (): Promise<void> => {
    for (const pod of (await client.resource(PODS).list({ namespace })).items) {
      const statuses = pod.status?.containerStatuses ?? [];
      const containerStatuses = statuses.map((status) => {
        const container = pod.spec?.containers?.find(({ name }) => name === status.name);
        return { ...status, resources: container?.resources ?? {} };
      });
      if (equalJson(statuses, containerStatuses)) continue;
      await client
        .resource(PODS)
        .patch(keyOf(pod), "merge", { status: { containerStatuses } }, { subresource: "status" })
        .catch(() => undefined);
    }
  };
  const done = (async () => {
    while (!stop.signal.aborted) {
      await report();
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    }
  })();
  return { stop: async () => (stop.abort(), await done) };
}
