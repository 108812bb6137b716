/** What touches sockets, files and processes: for `main.ts` and tests. */
export { createUndiciTransport, type UndiciTransportOptions } from "./undici-transport.ts";
export { loadAccess, type AccessOptions } from "./load-access.ts";
