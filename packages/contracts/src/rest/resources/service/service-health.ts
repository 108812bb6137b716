import { z } from "zod";
import { view } from "../../reading/fields.ts";

/** How the store of PM is. */
export const storageHealthView = view(
  { status: z.enum(["ok", "error"]), message: z.string().optional() },
  { status: "Whether the store responds.", message: "Error when it does not respond." },
);

/** How PM itself is doing. Warnings name what is not fit for production, such as a store in memory. */
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

/** One of the things that must hold before PM takes requests. */
export const readinessCheckView = view(
  { ok: z.boolean(), message: z.string().optional() },
  { ok: "Whether the check passes.", message: "Why the check fails." },
);

/** Whether PM can take requests, check by check. */
export const readinessView = view(
  {
    ready: z.boolean(),
    checks: z.record(z.string(), readinessCheckView),
  },
  { ready: "Whether all checks pass.", checks: "Result of each check, by name." },
);
