import type { Ambient } from "@oaas/foundation";
import { KubeClient } from "@oaas/kube-runtime";
import type { Logger } from "@oaas/observability";
import { StoreNetwork, type Cut } from "@oaas/test-store";
import { runStateStores } from "@oaas/test-store/runner";
import type { StartCluster } from "../../clusters/ports.ts";

/**
 * Runs the state stores of the clusters in this process, because simulated nodes run no images. All clusters are in one
 * data plane network, in which the stores replicate.
 */
export function withStateStores(
  start: StartCluster,
  { ambient, logger }: { readonly ambient: Ambient; readonly logger: Logger },
): StartCluster {
  const network = new StoreNetwork({ ambient });
  return async (plan, progress) => {
    const cluster = await start(plan, progress);
    const client = new KubeClient({ transport: cluster.connect(), ambient, userAgent: "oaas-state-stores" });
    const stores = runStateStores({ client, cluster: plan.name, network, ambient, logger });
    const { nodes } = cluster;
    const lost = new Map<string, Cut>();
    return {
      ...cluster,
      ...(nodes === undefined
        ? {}
        : {
            nodes: {
              names: nodes.names,
              fail: async (name) => {
                lost.get(name)?.heal();
                lost.set(name, stores.loseMachine(name));
                await nodes.fail(name);
              },
              recover: async (name) => {
                await nodes.recover(name);
                lost.get(name)?.heal();
                lost.delete(name);
              },
            },
          }),
      storeAddress: ({ namespace, name }) => stores.addressOf(namespace, name),
      close: async () => {
        await stores.close();
        await client.close();
        await cluster.close();
      },
    };
  };
}
