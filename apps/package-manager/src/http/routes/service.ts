import { openApiDocument } from "@oaas/contracts/rest";
import { timestamp, type Clock } from "@oaas/foundation";
import { json, type Handlers } from "../handler.ts";
import { referencePage } from "../reference-page.ts";

export interface ServiceState {
  readonly version: string;
  readonly clock: Clock;
  /** Rejects when storage does not answer. */
  readonly storage: () => Promise<unknown>;
  /** What is not fit for production. */
  readonly warnings: () => readonly string[];
  /** Named checks; a message says why one fails. */
  readonly checks: () => Readonly<Record<string, string | undefined>>;
  readonly metrics: () => Promise<string>;
  readonly metricsType: string;
}

/** The service itself: health, readiness, metrics, its own description. */
export function serviceHandlers(
  state: ServiceState,
): Handlers<"getHealth" | "getReadiness" | "getMetrics" | "getOpenApi" | "getReferencePage"> {
  const document = JSON.stringify(openApiDocument(state.version));
  return {
    getHealth: async () => {
      const problem = await state.storage().then(
        () => undefined,
        (thrown: unknown) => (thrown instanceof Error ? thrown.message : "it does not answer"),
      );
      const warnings = state.warnings();
      return json(
        {
          status: problem === undefined ? "healthy" : "unhealthy",
          service: "oprc-pm",
          version: state.version,
          timestamp: timestamp(state.clock.now()),
          storage: problem === undefined ? { status: "ok" } : { status: "error", message: problem },
          ...(warnings.length === 0 ? {} : { warnings }),
        },
        undefined,
        problem === undefined ? 200 : 503,
      );
    },
    getReadiness: () => {
      const checks = Object.entries(state.checks()).map(([name, message]) => [
        name,
        message === undefined ? { ok: true } : { ok: false, message },
      ]);
      const ready = checks.every(([, check]) => (check as { readonly ok: boolean }).ok);
      return json({ ready, checks: Object.fromEntries(checks) as object }, undefined, ready ? 200 : 503);
    },
    getMetrics: async () => ({ status: 200, content: { type: state.metricsType, text: await state.metrics() } }),
    getOpenApi: () => ({ status: 200, json: document }),
    getReferencePage: () => ({
      status: 200,
      content: { type: "text/html; charset=utf-8", text: referencePage(openApiDocument(state.version)) },
    }),
  };
}
