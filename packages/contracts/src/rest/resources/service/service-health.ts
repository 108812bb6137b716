import { z } from "zod";
import { view } from "../../reading/fields.ts";

/** The health of the store. */
export const storageHealthView = view(
  { status: z.enum(["ok", "error"]), message: z.string().optional() },
  { status: "Whether the store responds.", message: "Error when it does not respond." },
);

/** The health of the package manager. */
export const serviceHealthView = view(
  {
    status: z.enum(["healthy", "unhealthy"]),
    service: z.string(),
    version: z.string(),
    timestamp: z.string(),
    storage: storageHealthView,
    warnings: z.array(z.string()).optional(),
  },
  {
    status: "Overall health.",
    service: "Program name: `oprc-pm`.",
    version: "Program version.",
    timestamp: "Current server time.",
    storage: "Health of the store.",
    warnings: "Settings that are not suitable for production, such as an in-memory store.",
  },
);

/** One readiness check. */
export const readinessCheckView = view(
  { ok: z.boolean(), message: z.string().optional() },
  { ok: "Whether the check passes.", message: "Why the check fails." },
);

/** Readiness of the package manager. */
export const readinessView = view(
  {
    ready: z.boolean(),
    checks: z.record(z.string(), readinessCheckView),
  },
  { ready: "Whether all checks pass.", checks: "Result of each check, by name." },
);
