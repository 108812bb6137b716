/**
 * The gRPC contract between the package manager, the class runtime managers and their peers.
 *
 * Messages and services are generated from `proto/`; create messages with `create(XSchema, …)` of `@bufbuild/protobuf`.
 * Standard services and those of the data plane are namespaced, because some names coincide. Also here: FILE_DESCRIPTORS
 * (for reflection), metadata keys, deadlines, the mapping of faults to status codes, and helpers for mapping messages.
 * Independent of any gRPC library.
 */
export * from "../gen/common_pb.ts";
export * from "../gen/deployment_pb.ts";
export * from "../gen/deployment_types_pb.ts";
export * from "../gen/explanation_pb.ts";
export * from "../gen/health_pb.ts";
export * from "../gen/inspection_pb.ts";
export * from "../gen/state_store_pb.ts";
export * from "../gen/package_pb.ts";
export * from "../gen/runtime_pb.ts";
export * from "../gen/topology_pb.ts";
export * as grpcHealth from "../gen/grpc/health/v1/health_pb.ts";
export * as grpcReflection from "../gen/grpc/reflection/v1/reflection_pb.ts";
export * as grpcReflectionAlpha from "../gen/grpc/reflection/v1alpha/reflection_pb.ts";
export * as oprcData from "../gen/oprc-data_pb.ts";
export * as oprcInvoke from "../gen/oprc-invoke_pb.ts";
export * as oprcRoute from "../gen/oprc-route_pb.ts";
export { FILE_DESCRIPTORS } from "./descriptors/descriptors.ts";
export { GRPC_STATUS, grpcStatusName, type GrpcStatusCode, type GrpcStatusName } from "./faults/status-codes.ts";
export {
  faultFromStatus,
  faultStatusCode,
  faultToStatus,
  type GrpcFailure,
  type ReceivedStatus,
} from "./faults/fault-status.ts";
export { readObjectPage, storeCapabilities, type ObjectPage } from "./store-data.ts";
export type { PeerCall } from "./faults/foreign-fault.ts";
export { formatGrpcTimeout, METADATA_KEYS, parseGrpcTimeout } from "./metadata.ts";
export {
  accessModifierFromWire,
  accessModifierToWire,
  conditionWords,
  consistencyWords,
  enforcementDimensionWords,
  enforcementModeWords,
  functionTypeWords,
  lifecyclePhaseWords,
  phaseWords,
  stateShapeWords,
  type EnumWords,
  type EveryField,
} from "./mapping.ts";
