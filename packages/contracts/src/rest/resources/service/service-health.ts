import { z } from "zod";
import { field, view } from "../../reading/fields.ts";

/** The health of the store. */
export const storageHealthView = view({
  status: field("Whether the store responds.", z.enum(["ok", "error"])),
  message: field("Error when it does not respond.", z.string().optional()),
});

/** The health of the package manager. */
export const serviceHealthView = view({
  status: field("Overall health.", z.enum(["healthy", "unhealthy"])),
  service: field("Program name: `oprc-pm`.", z.string()),
  version: field("Program version.", z.string()),
  timestamp: field("Current server time.", z.string()),
  storage: field("Health of the store.", storageHealthView),
  warnings: field(
    "Settings that are not suitable for production, such as an in-memory store.",
    z.array(z.string()).optional(),
  ),
});

/** One readiness check. */
export const readinessCheckView = view({
  ok: field("Whether the check passes.", z.boolean()),
  message: field("Why the check fails.", z.string().optional()),
});

/** Readiness of the package manager. */
export const readinessView = view({
  ready: field("Whether all checks pass.", z.boolean()),
  checks: field("Result of each check, by name.", z.record(z.string(), readinessCheckView)),
});
