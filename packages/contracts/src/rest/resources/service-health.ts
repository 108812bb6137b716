import { z } from "zod";
import { view } from "../fields.ts";

/** How the store of PM is. */
export const storageHealthView = view(
  { status: z.enum(["ok", "error"]), message: z.string().optional() },
  { status: "Whether it answers.", message: "Why it does not." },
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
    status: "Well, or not.",
    service: "Which program it is: `oprc-pm`.",
    version: "Its version.",
    timestamp: "Its time.",
    storage: "How its store is.",
    warnings: "What is not fit for production, such as a store in memory.",
  },
);

/** One of the things that must hold before PM takes requests. */
export const readinessCheckView = view(
  { ok: z.boolean(), message: z.string().optional() },
  { ok: "Whether it is passed.", message: "What it waits for." },
);

/** Whether PM can take requests, check by check. */
export const readinessView = view(
  {
    ready: z.boolean(),
    checks: z.record(z.string(), readinessCheckView),
  },
  { ready: "Whether every check is passed.", checks: "Check by check." },
);
