import { StateStoreService } from "@oaas/contracts/grpc";
import { Semaphore } from "@oaas/foundation";
import type { Logger } from "@oaas/observability";
import { bindService, type BoundService, type Call } from "@oaas/rpc";
import type { StoredClass } from "../../classes/ports.ts";
import { createAuditLog } from "../access/audit.ts";
import { findClass, type ClassAddress, type FindClassDeps } from "../deployments/find-class.ts";
import { grantRestart, type GrantRestartDeps } from "./grant-restart.ts";
import { deleteObject, getObject, listObjects, setObject, type StateObjectDeps } from "./state-objects.ts";

/** Calls to state stores at the same time, and calls that wait. Each may hold an object of some megabytes. */
const CALLS = { name: "the state store", permits: 32, maxWaiting: 256 };

/** StateStoreService: the objects of a class. Every replica serves it. */
export function stateService(
  find: FindClassDeps & { readonly logger: Logger },
  deps: StateObjectDeps & GrantRestartDeps,
): BoundService {
  const calls = new Semaphore(CALLS);
  const audit = createAuditLog(find.logger);
  const withClass = <T>(request: ClassAddress, call: Call, work: (object: StoredClass) => Promise<T>): Promise<T> =>
    calls.run(call.signal, async () => work(await findClass(request, find, call.signal)));
  const record = (action: string, request: ChangedObject, call: Call, work: (object: StoredClass) => Promise<void>) => {
    const { deploymentId, collection = "", partition, objectId, namespace = find.namespaces.fallback } = request;
    const target = `${deploymentId}/${collection}/${partition}/${objectId}`;
    const change = { action, namespace, target };
    return audit.record(
      call,
      change,
      () => withClass(request, call, work),
      () => "done",
    );
  };
  return bindService(StateStoreService, {
    listStateObjects: (request, call) =>
      withClass(request, call, (object) => listObjects(object, request, deps, call.signal)),
    getStateObject: (request, call) =>
      withClass(request, call, (object) => getObject(object, request, deps, call.signal)),
    setStateObject: async (request, call) => {
      await record("setStateObject", request, call, (object) => setObject(object, request, deps, call.signal));
      return {};
    },
    grantRestart: async (request, call) => {
      const { deploymentId, nodeId, turnId, namespace = find.namespaces.fallback } = request;
      const change = { action: "grantRestart", namespace, target: `${deploymentId}/${nodeId}/${turnId}` };
      const accepted = await audit.record(
        call,
        change,
        () => withClass(request, call, (object) => grantRestart(object, request, deps, call.signal)),
        (isAccepted) => (isAccepted ? "accepted" : "declined"),
      );
      return { accepted };
    },
    deleteStateObject: async (request, call) => {
      await record("deleteStateObject", request, call, (object) => deleteObject(object, request, deps, call.signal));
      return {};
    },
  });
}

interface ChangedObject extends ClassAddress {
  readonly collection?: string | undefined;
  readonly partition: number;
  readonly objectId: string;
}
