/**
 * A Kubernetes client and the machinery of controllers, independent of any platform.
 *
 * Reading order: client (requests, kinds, discovery), watch (following a list), cache (informers and indexes), queue
 * (keys that need work), controller (keys to reconciles), finalizer, events, leader, manager (starting and stopping in
 * order). `@oaas/kube-runtime/node` contains the adapters for sockets, files and processes.
 */
export type { ClusterAccess, CredentialSource, ExecPlugin, FileOrData } from "./client/access.ts";
export { readKubeConfig, type KubeConfigDocument } from "./client/kube-config.ts";
export type { HttpRequest, HttpResponse, Transport } from "./client/transport.ts";
export { fenced } from "./client/fence.ts";
export { DEFAULT_FLOW, type FlowControlOptions } from "./client/flow-control.ts";
export type { CallOptions, RequesterOptions } from "./client/requester.ts";
export { KubeClient } from "./client/kube-client.ts";
export { metadataOf, resourceType, type ResourceType } from "./client/resource-type.ts";
export {
  ResourceClient,
  type ApplyOptions,
  type DeleteOptions,
  type ListQuery,
  type PatchType,
  type Scale,
  type Selection,
  type WriteOptions,
} from "./client/resource-client.ts";
export { Discovery, type ServedResource, type ServerVersion } from "./client/discovery.ts";
export type { ListPage, WatchEvent, WatchSink, WatchSource } from "./watch/watch-source.ts";
export { runWatcher, type WatcherEvent, type WatcherOptions } from "./watch/watcher.ts";
export { Informer, type ChangeHandler, type InformerOptions, type InformerView } from "./cache/informer.ts";
export { InformerPool, type InformerShape, type PoolOptions } from "./cache/informer-pool.ts";
export type { IndexFunction } from "./cache/indexes.ts";
export type { CacheReader, Change } from "./cache/store.ts";
export { PRIORITY, WorkQueue, type QueueObserver, type QueueItem, type WorkQueueOptions } from "./queue/work-queue.ts";
export { checkAgain, settled, waitForChange, type Outcome } from "./controller/outcome.ts";
export {
  allOf,
  annotationsChanged,
  anyOf,
  finalizersChanged,
  labelsChanged,
  specChanged,
  type Predicate,
} from "./controller/predicates.ts";
export {
  mapped,
  own,
  owned,
  type Enqueue,
  type OwnerKind,
  type Source,
  type SourceOptions,
} from "./controller/sources.ts";
export { Controller, type ControllerOptions, type Reconcile, type ReconcileContext } from "./controller/controller.ts";
export { withFinalizer, type FinalizerSteps } from "./finalizer/finalizer.ts";
export { EVENTS, type EventInput, type KubeEvent } from "./events/event.ts";
export { EventRecorder, type RecorderOptions } from "./events/recorder.ts";
export { LEASES, type Lease } from "./leader/lease.ts";
export { LeaseElector, type ElectorOptions } from "./leader/lease-elector.ts";
export { Manager, type LedTask, type ManagerOptions, type Prerequisite, type Readiness } from "./manager/manager.ts";
