import { orAbort, startDeadline, type Ambient } from "@oaas/foundation";
import type { CallOptions, CrmGateway, UnitReport } from "../ports.ts";

/** How long a read waits for one response of a cluster. */
const READ_TIMEOUT_MS = 5_000;

/** The calls of the gateway that read. */
export type ReadGateway = Pick<CrmGateway, "unit" | "runtimes" | "enforcement" | "usage" | "explain" | "topology">;

/** Limits reads to a short timeout, even in clusters with a longer deadline. */
export function withReadTimeout(gateway: ReadGateway, ambient: Ambient, timeoutMs = READ_TIMEOUT_MS): ReadGateway {
  const limit = async <T>(options: CallOptions = {}, read: (options: CallOptions) => Promise<T>): Promise<T> => {
    using deadline = startDeadline(ambient, timeoutMs, options.signal);
    return await orAbort(read({ signal: deadline.signal }), deadline.signal);
  };
  return {
    unit: (cluster, unitId, options) =>
      limit(options, (bounded) => gateway.unit(cluster, unitId, { ...options, ...bounded })),
    enforcement: (cluster, unitId, options) =>
      limit(options, (bounded) => gateway.enforcement(cluster, unitId, { ...options, ...bounded })),
    usage: (cluster, options) => limit(options, (bounded) => gateway.usage(cluster, bounded)),
    explain: (cluster, unitId, options) =>
      limit(options, (bounded) => gateway.explain(cluster, unitId, { ...options, ...bounded })),
    topology: (cluster, options) => limit(options, (bounded) => gateway.topology(cluster, bounded)),
    async *runtimes(cluster, query, options): AsyncGenerator<UnitReport> {
      const stop = new AbortController();
      const signal = options?.signal === undefined ? stop.signal : AbortSignal.any([stop.signal, options.signal]);
      const reports = gateway.runtimes(cluster, query, { signal })[Symbol.asyncIterator]();
      try {
        for (;;) {
          // The timeout applies to each report, so that long lists can finish.
          const next = await limit({ signal }, () => reports.next());
          if (next.done === true) return;
          yield next.value;
        }
      } finally {
        stop.abort();
      }
    },
  };
}
