import { InspectionService } from "@oaas/contracts/grpc";
import type { KubeObject } from "@oaas/kube-core";
import { bindService, type BoundService } from "@oaas/rpc";
import { findClass, type FindClassDeps } from "../deployments/find-class.ts";
import { listPods, type PodSource } from "./list-pods.ts";
import { readConditions } from "./read-conditions.ts";
import { readObject } from "./read-object.ts";
import { readSignals, type ReadSignalsDeps } from "./read-signals.ts";

/** Dependencies of InspectionService. */
export interface InspectionDeps extends ReadSignalsDeps {
  readonly pods: PodSource;
  /** The objects with the owner reference of a class, from the cache. */
  readonly childrenOf: (uid: string) => readonly KubeObject[];
}

/** InspectionService: what a class runtime consists of, and how it behaves. */
export function inspectionService(find: FindClassDeps, deps: InspectionDeps): BoundService {
  return bindService(InspectionService, {
    getSignals: async (request, call) =>
      readSignals(await findClass(request, find, call.signal), request, deps, call.signal),
    getObject: async (request, call) =>
      readObject(await findClass(request, find, call.signal), request, deps.childrenOf),
    listPods: async (request, call) => listPods(await findClass(request, find, call.signal), deps.pods),
    getConditions: async (request, call) => {
      const object = await findClass(request, find, call.signal);
      return readConditions(object, await deps.events(object, call.signal));
    },
  });
}
