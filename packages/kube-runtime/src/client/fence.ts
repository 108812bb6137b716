import { Fault } from "@oaas/foundation";
import type { Transport } from "./transport.ts";

/**
 * A transport that lets writes through only while a condition holds, asked at the moment of sending: give it to the client that a leader writes
 * with. Reads always pass.
 *
 * Why: a process that was frozen longer than its lease goes on in the middle of its work, before any timer can tell it; here it
 * finds out before it writes. *Caveats*: a request that was being handed to the network when the freeze came goes out after it, one per
 * call under way. Only the server can refuse that one: give a precondition (`resourceVersion`, `uid`) to what must not happen twice.
 */
export function fenced(transport: Transport, mayWrite: () => boolean): Transport {
  return {
    send: async (request) => {
      if (request.method !== "GET" && !mayWrite()) {
        throw new Fault({ kind: "cancelled" }, "the write was not sent: this process may not write now");
      }
      return transport.send(request);
    },
    close: () => transport.close(),
  };
}
