import { parentPort } from "node:worker_threads";
import type { LoadCurve } from "@oaas/nfr/simulation";
import { competitorsWith } from "./competitors/index.ts";
import type { MetricsSource } from "./competitors/metrics-source.ts";
import { runTrace } from "./league.ts";

interface Task {
  readonly curve: LoadCurve;
  readonly metrics: MetricsSource;
}

parentPort?.on("message", ({ curve, metrics }: Task) =>
  parentPort?.postMessage(runTrace(curve, competitorsWith(metrics)), []),
);
