/**
 * gRPC as promises, faults and AbortSignals, on grpc-js and protobuf-es.
 *
 * Reading order: call (context of a call), handlers, server, one-port (gRPC and HTTP on one port),
 * client, the two services of every server: health-service and reflection-service, and certificate-expiry.
 */
export type { Call, CallHead, Peer } from "./call.ts";
export { CertificateExpiry, type CertificateUse } from "./certificate-expiry.ts";
export { readPeerCertificate, rulesOfCertificate, type ClientName, type PeerCertificate } from "./peer-certificate.ts";
export { bindService, type BoundService, type Handlers } from "./handlers.ts";
export { readHttpHead } from "./server-call.ts";
export { RpcServer, type RpcServerOptions } from "./server.ts";
export { listenFault, listenOnePort, type OnePort, type OnePortOptions } from "./one-port.ts";
export { openMetricsListener, type MetricsListener } from "./metrics-listener.ts";
export type { RequestListener } from "./http-front.ts";
export { type PortLimits } from "./port-limits.ts";
export { RpcChannel, type ChannelOptions, type ChannelTls, type RpcCallOptions, type RpcClient } from "./client.ts";
export { HealthRegistry, type ServingState } from "./health-service.ts";
export { reflectionServices } from "./reflection-service.ts";
