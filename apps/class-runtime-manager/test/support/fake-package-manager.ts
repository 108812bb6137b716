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

/** A fake package manager that receives reports. */
export interface FakePackageManager {
  readonly port: number;
  behaviour: "accept" | "fail" | "hang";
  /** The accepted token; undefined accepts every call. */
  token: string | undefined;
  readonly reports: ReportStatusRequest[];
  readonly metrics: ReportRuntimeMetricsRequest[];
  readonly calls: Call[];
  close(): Promise<void>;
}

export async function startFakePackageManager(
  options: { readonly port?: number; readonly tls?: TlsOptions } = {},
): Promise<FakePackageManager> {
  const receive = async (call: Call): Promise<void> => {
    pm.calls.push(call);
    if (pm.token !== undefined && call.header("authorization") !== `Bearer ${pm.token}`)
      throw new Fault({ kind: "unauthenticated" }, "invalid token");
    if (pm.behaviour === "hang") await sleep(realAmbient.timers, 60_000, call.signal);
    if (pm.behaviour === "fail") throw unavailable("storage", "the storage is down");
  };
  const service = bindService(PackageService, {
    reportDeploymentStatus: async (request, call) => {
      await receive(call);
      pm.reports.push(request);
      return { status: StatusCode.OK };
    },
    reportRuntimeMetrics: async (request, call) => {
      await receive(call);
      pm.metrics.push(request);
      return { status: StatusCode.OK, acceptedSamples: request.samples.length };
    },
  });
  const onePort = await listenOnePort({
    host: "127.0.0.1",
    port: options.port ?? 0,
    rpc: new RpcServer({ services: [service], ambient: realAmbient }),
    http: (_, response) => void response.end(),
    timers: realAmbient.timers,
    ...(options.tls ? { tls: options.tls } : {}),
  });
  const pm: FakePackageManager = {
    port: onePort.port,
    behaviour: "accept",
    token: undefined,
    reports: [],
    metrics: [],
    calls: [],
    close: () => onePort.close(100),
  };
  return pm;
}
