/** An embedded Kubernetes API server, for evaluation and fast tests, not for production. See README.md. */
export type { Api, ApiRequest, ApiResponse } from "./api.ts";
export { ApiServer, type ApiServerOptions } from "./server.ts";
export { embeddedServer, type EmbeddedOptions, type EmbeddedServer } from "./embedded.ts";
export { KeyValueJournal } from "./store/key-value-journal.ts";
export { builtInKinds } from "./kinds/built-in/built-in-kinds.ts";
export type { User } from "./access/authentication/user.ts";
export type { Kind, KindRules, KindVersion } from "./kinds/kind.ts";
export type { KindRegistry } from "./kinds/kind-registry.ts";
export type {
  RequestAttributes,
  RequestGuard,
  PathHandler,
  VirtualRequest,
  VirtualResources,
} from "./request/routing/router.ts";
export type { ClusterObjects, ObjectName, ResourceName, ServerController } from "./controllers/cluster-objects.ts";
export type { ContainerRequest, ContainerResponse } from "./containers/container-server.ts";
export type { ContainerRun, ContainerRuntime, RuntimeHost } from "./containers/container-runtime.ts";
export { MemoryTransport } from "./memory-transport.ts";
export { faultyApi, type FaultAction, type FaultSelector } from "./faults/faulty-api.ts";
