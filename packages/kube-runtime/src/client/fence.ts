import { Fault } from "@oaas/foundation";
import type { Transport } from "./transport.ts";

/**
 * A transport that sends writes only while a condition holds, checked at the moment of sending. Used by the client that
 * a leader writes with. Reads always pass.
 *
 * Why: a process that was paused longer than its lease continues in the middle of its work, before any timer can fire;
 * this check stops it before it writes. *Caveats*: a request that was being handed to the network when the pause began
 * is still sent, one per running call. Only the server can reject that one: use a precondition (`resourceVersion`,
 * `uid`) for writes that must not happen twice.
 */
export function fenced(transport: Transport, mayWrite: () => boolean): Transport {
  return {
    send: async (request) => {
      if (request.method !== "GET" && !mayWrite()) {
        throw new Fault({ kind: "cancelled" }, "the write was not sent: this process is not allowed to write now");
      }
      return transport.send(request);
    },
    close: () => transport.close(),
  };
}
