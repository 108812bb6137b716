import { isFault } from "@oaas/foundation";
import type { KubeClient } from "@oaas/kube-runtime";
import type { ShardGate } from "../../state-store/shard-gates.ts";
import { PODS } from "../kinds/resource-types.ts";

const FIELD_MANAGER = "oprc-crm-shards";

/** Sets the shards conditions of pods. A pod that is gone, or another one of its name, is left out. */
export async function writeShardGates(
  client: KubeClient,
  gates: readonly ShardGate[],
  signal: AbortSignal,
): Promise<void> {
  for (const { pod, condition } of gates) {
    const { namespace, name } = pod.key;
    // With the uid: a pod of this name with another one is another node.
    const metadata = { namespace, name, uid: pod.uid };
    const manifest = { apiVersion: "v1", kind: "Pod", metadata, status: { conditions: [condition] } };
    try {
      await client
        .resource(PODS)
        .apply(manifest, { fieldManager: FIELD_MANAGER, force: true, subresource: "status", signal });
    } catch (thrown) {
      if (!isFault(thrown, "not-found") && !isFault(thrown, "conflict")) throw thrown;
    }
  }
}
