import { unavailable } from "@oaas/foundation";
import type { Transport } from "@oaas/kube-runtime";

/** A connection that can be severed: from then on nothing is sent, as though the process behind it had been killed. */
export function severable(transport: Transport): { readonly transport: Transport; readonly sever: () => void } {
  let isSevered = false;
  return {
    transport: {
      send: (request) =>
        isSevered
          ? Promise.reject(unavailable("the API server", "this manager was killed on purpose"))
          : transport.send(request),
      close: () => transport.close(),
    },
    sever: () => {
      isSevered = true;
    },
  };
}
