/** An embedded Kubernetes API server, for trying out and for fast tests; never for production. See README.md for the tour. */
export type { Api, ApiRequest, ApiResponse } from "./api.ts";
export { ApiServer, type ApiServerOptions } from "./server.ts";
export { embeddedServer, type EmbeddedOptions, type EmbeddedServer } from "./embedded.ts";
export { KeyValueJournal } from "./store/key-value-journal.ts";
export { builtInKinds } from "./kinds/built-in-kinds.ts";
export type { User } from "./access/user.ts";
export type { Kind, KindRules, KindVersion } from "./kinds/kind.ts";
export type { KindRegistry } from "./kinds/kind-registry.ts";
export type {
  RequestAttributes as Attempt,
  RequestGuard as Gate,
  PathHandler as Page,
  VirtualRequest as Question,
  VirtualResources as Questions,
} from "./request/router.ts";
export type { ClusterObjects, ObjectName, ResourceName, ServerController } from "./controllers/cluster-objects.ts";
export { MemoryTransport } from "./memory-transport.ts";
export { faultyApi, type FaultAction as Fate, type FaultSelector as FateOf } from "./faults/faulty-api.ts";
