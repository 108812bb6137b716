import { failedPrecondition, Fault, isFault } from "@oaas/foundation";
import type { KubeClient } from "@oaas/kube-runtime";
import type { StoredClass } from "../../classes/ports.ts";
import type { EventObject } from "../../lifecycle/observation/observed-objects.ts";
import { CORE_EVENTS } from "../../controller/kinds/resource-types.ts";

/** Lists the Kubernetes Events about a class. */
export type ClassEvents = (object: StoredClass, signal: AbortSignal) => Promise<readonly EventObject[]>;

/** Events that are read of one class; the cluster keeps them for about an hour. */
const MAX_EVENTS = 2000;

/** Reads Events from the server: they are too many to cache, and rarely needed. */
export function createClassEvents(client: Pick<KubeClient, "resource">): ClassEvents {
  return async ({ metadata: { namespace, uid } }, signal) => {
    const events: EventObject[] = [];
    const query = { namespace, fieldSelector: `involvedObject.uid=${uid}` };
    try {
      for await (const event of client.resource(CORE_EVENTS).listAll(query, { signal })) {
        events.push(event);
        if (events.length >= MAX_EVENTS) break;
      }
      return events;
    } catch (thrown) {
      throw eventsFault(Fault.from(thrown));
    }
  };
}

/** The permission that is missing is that of the manager, not of its caller. */
function eventsFault(fault: Fault): Fault {
  if (!isFault(fault, "permission-denied")) return fault;
  const message = "the manager may not list events: apply the ClusterRole oprc-crm of this release";
  return failedPrecondition("events", message, { cause: fault });
}
