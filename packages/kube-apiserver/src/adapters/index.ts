/** The embedded API server on Node: sockets. */
export { listenHttp, type HttpListener, type HttpOptions } from "./http-server.ts";
