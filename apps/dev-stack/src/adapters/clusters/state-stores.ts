import type { Ambient } from "@oaas/foundation";
import { KubeClient } from "@oaas/kube-runtime";
import type { Logger } from "@oaas/observability";
import { StoreNetwork } from "@oaas/test-store";
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
    return {
      ...cluster,
      storeAddress: ({ namespace, name }) => stores.addressOf(namespace, name),
      close: async () => {
        await stores.close();
        await client.close();
        await cluster.close();
      },
    };
  };
}
