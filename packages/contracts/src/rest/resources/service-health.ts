import { z } from "zod";
import { view } from "../fields.ts";

/** How PM itself is doing. Warnings name what is not fit for production, such as a store in memory. */
export const serviceHealthView = view({
  status: z.enum(["healthy", "unhealthy"]),
  service: z.string(),
  version: z.string(),
  timestamp: z.string(),
  storage: view({ status: z.enum(["ok", "error"]), message: z.string().optional() }),
  warnings: z.array(z.string()).optional(),
});

/** Whether PM can take requests, check by check. */
export const readinessView = view({
  ready: z.boolean(),
  checks: z.record(z.string(), view({ ok: z.boolean(), message: z.string().optional() })),
});
