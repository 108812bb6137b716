import { orAbort, startDeadline, type Ambient } from "@oaas/foundation";
import type { CallOptions, CrmGateway, UnitReport } from "../ports.ts";

/** How long a reader waits for one cluster to say something. Others may wait for as long as the cluster's own deadline. */
const PATIENCE_MS = 5_000;

/** What readers ask of clusters. */
export type ReadGateway = Pick<CrmGateway, "unit" | "runtimes" | "explain" | "topology">;

/** The same clusters for those who read: one that says nothing fails soon, however long a deadline it was registered with. */
export function withReadTimeout(gateway: ReadGateway, ambient: Ambient, patienceMs = PATIENCE_MS): ReadGateway {
  const inTime = async <T>(options: CallOptions = {}, ask: (options: CallOptions) => Promise<T>): Promise<T> => {
    using patience = startDeadline(ambient, patienceMs, options.signal);
    return await orAbort(ask({ signal: patience.signal }), patience.signal);
  };
  return {
    unit: (cluster, unitId, options) => inTime(options, (bounded) => gateway.unit(cluster, unitId, bounded)),
    explain: (cluster, unitId, options) => inTime(options, (bounded) => gateway.explain(cluster, unitId, bounded)),
    topology: (cluster, options) => inTime(options, (bounded) => gateway.topology(cluster, bounded)),
    async *runtimes(cluster, query, options): AsyncGenerator<UnitReport> {
      const given = new AbortController();
      const signal = options?.signal === undefined ? given.signal : AbortSignal.any([given.signal, options.signal]);
      const reports = gateway.runtimes(cluster, query, { signal })[Symbol.asyncIterator]();
      try {
        for (;;) {
          // Of a long list each part is waited for anew.
          const next = await inTime({ signal }, () => reports.next());
          if (next.done === true) return;
          yield next.value;
        }
      } finally {
        given.abort();
      }
    },
  };
}
