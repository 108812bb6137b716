import { openApiDocument, referencePage } from "@oaas/contracts/rest";
import { orAbort, startDeadline, timestamp, type Ambient } from "@oaas/foundation";
import { METRICS_TYPES, selectMetricsFormat, type MetricsFormat } from "@oaas/observability";
import { json, type HandlersOf, type HttpReply } from "../handler.ts";

export interface ServiceState {
  readonly version: string;
  readonly ambient: Pick<Ambient, "clock" | "timers">;
  /** Rejects when the store does not respond. */
  readonly storage: () => Promise<unknown>;
  /** Reasons why the setup is not fit for production. */
  readonly warnings: () => readonly string[];
  /** Named checks with the reason of a failure. */
  readonly checks: () => Readonly<Record<string, string | undefined>>;
  readonly metrics: (format: MetricsFormat) => Promise<string>;
}

/** Shorter than the timeout of the store: probes need an answer soon. */
const STORAGE_TIMEOUT_MS = 3_000;

/** Handlers of health, readiness, metrics and the API description. */
export function serviceHandlers(state: ServiceState): HandlersOf<"service"> {
  // Generated on demand, once: it takes a fifth of the start-up time, and few processes serve it.
  let document: string | undefined;
  let page: HttpReply["content"];
  return {
    getHealth: async () => {
      const problem = await storageProblem(state);
      const warnings = state.warnings();
      const health = {
        status: problem === undefined ? "healthy" : "unhealthy",
        service: "oprc-pm",
        version: state.version,
        timestamp: timestamp(state.ambient.clock.now()),
        storage: problem === undefined ? { status: "ok" } : { status: "error", message: problem },
        ...(warnings.length === 0 ? {} : { warnings }),
      };
      return json(health, {}, problem === undefined ? 200 : 503);
    },
    getReadiness: async () => {
      // Without the store a process serves stale lists and cannot write: load balancers should use another one.
      const problems = Object.entries({ storage: await storageProblem(state), ...state.checks() });
      const checks = problems.map(([name, message]) => [
        name,
        message === undefined ? { ok: true } : { ok: false, message },
      ]);
      const ready = problems.every(([, message]) => message === undefined);
      return json({ ready, checks: Object.fromEntries(checks) as object }, {}, ready ? 200 : 503);
    },
    getMetrics: async ({ accept }) => {
      const format = selectMetricsFormat(accept);
      return { status: 200, content: { type: METRICS_TYPES[format], text: await state.metrics(format) } };
    },
    getOpenApi: async () => ({ status: 200, json: (document ??= JSON.stringify(openApiDocument(state.version))) }),
    getRoot: async () => ({ status: 302, headers: { location: "/docs" } }),
    getReferencePage: async () => {
      page ??= { type: "text/html; charset=utf-8", text: referencePage(openApiDocument(state.version)) };
      return { status: 200, content: page };
    },
  };
}

async function storageProblem({ ambient, storage }: ServiceState): Promise<string | undefined> {
  using deadline = startDeadline(ambient, STORAGE_TIMEOUT_MS);
  try {
    await orAbort(storage(), deadline.signal);
    return undefined;
  } catch (thrown) {
    if (deadline.signal.aborted) return `no response within ${STORAGE_TIMEOUT_MS / 1000} s`;
    return thrown instanceof Error ? thrown.message : "no response";
  }
}
