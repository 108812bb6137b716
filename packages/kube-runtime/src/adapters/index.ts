/** Adapters for sockets, files and processes; imported by `main.ts` and tests. */
export { createUndiciTransport, type UndiciTransportOptions } from "./undici-transport.ts";
export { loadAccess, type AccessOptions } from "./load-access.ts";
