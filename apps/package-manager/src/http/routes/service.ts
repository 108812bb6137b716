import { openApiDocument } from "@oaas/contracts/rest";
import { orAbort, startDeadline, timestamp, type Ambient } from "@oaas/foundation";
import { json, type Handlers } from "../handler.ts";
import { referencePage } from "./reference-page.ts";

export interface ServiceState {
  readonly version: string;
  readonly ambient: Pick<Ambient, "clock" | "timers">;
  /** Rejects when storage does not answer. */
  readonly storage: () => Promise<unknown>;
  /** What is not fit for production. */
  readonly warnings: () => readonly string[];
  /** Named checks; a message says why one fails. */
  readonly checks: () => Readonly<Record<string, string | undefined>>;
  readonly metrics: () => Promise<string>;
  readonly metricsType: string;
}

/** Whoever asks how we are wants to know soon, however long a call of the store may take otherwise. */
const STORAGE_MS = 3_000;

/** The service itself: health, readiness, metrics, its own description. */
export function serviceHandlers(
  state: ServiceState,
): Handlers<"getHealth" | "getReadiness" | "getMetrics" | "getOpenApi" | "getReferencePage"> {
  // Made when it is asked for: a fifth of a start would go into it, and most processes are never asked.
  let document: string | undefined;
  return {
    getHealth: async () => {
      const problem = await storageProblem(state);
      const warnings = state.warnings();
      return json(
        {
          status: problem === undefined ? "healthy" : "unhealthy",
          service: "oprc-pm",
          version: state.version,
          timestamp: timestamp(state.ambient.clock.now()),
          storage: problem === undefined ? { status: "ok" } : { status: "error", message: problem },
          ...(warnings.length === 0 ? {} : { warnings }),
        },
        undefined,
        problem === undefined ? 200 : 503,
      );
    },
    getReadiness: async () => {
      // Cut off from the store a process shows lists that grow old and can change nothing: others are to be asked.
      const storage = await storageProblem(state);
      const checks = Object.entries({ storage, ...state.checks() }).map(([name, message]) => [
        name,
        message === undefined ? { ok: true } : { ok: false, message },
      ]);
      const ready = checks.every(([, check]) => (check as { readonly ok: boolean }).ok);
      return json({ ready, checks: Object.fromEntries(checks) as object }, undefined, ready ? 200 : 503);
    },
    getMetrics: async () => ({ status: 200, content: { type: state.metricsType, text: await state.metrics() } }),
    getOpenApi: async () => ({ status: 200, json: (document ??= JSON.stringify(openApiDocument(state.version))) }),
    getReferencePage: async () => ({
      status: 200,
      content: { type: "text/html; charset=utf-8", text: referencePage(openApiDocument(state.version)) },
    }),
  };
}

async function storageProblem({ ambient, storage }: ServiceState): Promise<string | undefined> {
  using patience = startDeadline(ambient, STORAGE_MS);
  try {
    await orAbort(storage(), patience.signal);
    return undefined;
  } catch (thrown) {
    if (patience.signal.aborted) return `it has not answered for ${STORAGE_MS / 1000} s`;
    return thrown instanceof Error ? thrown.message : "it does not answer";
  }
}
