/** The transport over sockets; imported by adapters and tests. */
export { createUndiciTransport, type UndiciTransportOptions } from "./undici-transport.ts";
