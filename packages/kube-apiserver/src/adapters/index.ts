/** The embedded API server on Node: sockets and the real clock. */
export { listenHttp, type HttpListener, type HttpOptions, type TlsOptions } from "./http-server.ts";
export { startEmbedded, type EmbeddedCluster, type StartOptions } from "./start-embedded.ts";
