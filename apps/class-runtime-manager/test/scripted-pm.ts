import { createServer } from "node:http";
import type { TlsOptions } from "node:tls";
import {
  PackageService,
  StatusCode,
  type ReportRuntimeMetricsRequest,
  type ReportStatusRequest,
} from "@oaas/contracts/grpc";
import { Fault, sleep, unavailable } from "@oaas/foundation";
import { realAmbient } from "@oaas/foundation/real";
import { bindService, listenOnePort, RpcServer, type Call } from "@oaas/rpc";

/** A package manager that takes reports, or does not. */
export interface ScriptedPm {
  readonly port: number;
  mood: "well" | "fails" | "hangs";
  /** The only token it takes; undefined takes every call. */
  token: string | undefined;
  readonly reports: ReportStatusRequest[];
  readonly numbers: ReportRuntimeMetricsRequest[];
  readonly calls: Call[];
  close(): Promise<void>;
}

export async function startScriptedPm(
  options: { readonly port?: number; readonly tls?: TlsOptions } = {},
): Promise<ScriptedPm> {
  const answer = async (call: Call): Promise<void> => {
    pm.calls.push(call);
    if (pm.token !== undefined && call.header("authorization") !== `Bearer ${pm.token}`)
      throw new Fault({ kind: "unauthenticated" }, "not with this token");
    if (pm.mood === "hangs") await sleep(realAmbient.timers, 60_000, call.signal);
    if (pm.mood === "fails") throw unavailable("storage", "the storage is down");
  };
  const service = bindService(PackageService, {
    reportDeploymentStatus: async (request, call) => {
      await answer(call);
      pm.reports.push(request);
      return { status: StatusCode.OK };
    },
    reportRuntimeMetrics: async (request, call) => {
      await answer(call);
      pm.numbers.push(request);
      return { status: StatusCode.OK, acceptedSamples: request.samples.length };
    },
  });
  const onePort = await listenOnePort({
    host: "127.0.0.1",
    port: options.port ?? 0,
    rpc: new RpcServer({ services: [service], ambient: realAmbient }),
    http: createServer(),
    timers: realAmbient.timers,
    ...(options.tls ? { tls: options.tls } : {}),
  });
  const pm: ScriptedPm = {
    port: onePort.port,
    mood: "well",
    token: undefined,
    reports: [],
    numbers: [],
    calls: [],
    close: () => onePort.close(100),
  };
  return pm;
}
