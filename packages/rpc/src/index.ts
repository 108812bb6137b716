/**
 * gRPC as promises, faults and AbortSignals, on grpc-js and protobuf-es.
 *
 * Reading order: call (what a handler knows), handlers (binding them to a service), server, one-port (gRPC, gRPC-Web and HTTP on one port), grpc-web/, client, and the two services
 * that every server has: health-service and reflection-service.
 */
export type { Call, Peer } from "./call.ts";
export { bindService, type BoundService, type Handlers } from "./handlers.ts";
export { RpcServer, type RpcServerOptions } from "./server.ts";
export { cannotListen, listenOnePort, type OnePort, type OnePortOptions } from "./one-port.ts";
export type { AllowedOrigins } from "./grpc-web/origins.ts";
export { RpcChannel, type ChannelOptions, type ChannelTls, type RpcCallOptions, type RpcClient } from "./client.ts";
export { HealthBoard, type ServingState } from "./health-service.ts";
export { reflectionServices } from "./reflection-service.ts";
