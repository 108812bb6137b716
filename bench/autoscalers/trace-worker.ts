import { parentPort } from "node:worker_threads";
import type { LoadCurve } from "@oaas/nfr/simulation";
import { COMPETITORS } from "./competitors/index.ts";
import { runTrace } from "./league.ts";

parentPort?.on("message", (curve: LoadCurve) => parentPort?.postMessage(runTrace(curve, COMPETITORS), []));
