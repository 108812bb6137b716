import { realAmbient } from "@oaas/foundation/real";
import {
  CrmInfoService,
  DeploymentService,
  FILE_DESCRIPTORS,
  StatusCode,
  type DeployRequest,
} from "@oaas/contracts/grpc";
import { failedPrecondition, invalidArgument, sleep } from "@oaas/foundation";
import {
  bindService,
  HealthRegistry,
  listenOnePort,
  reflectionServices,
  RpcServer,
  type Call,
  type OnePort,
  type OnePortOptions,
  type RpcServerOptions,
} from "../src/index.ts";

/** Calls received by the handlers of the server under test. */
export interface ReceivedCalls {
  readonly deployed: DeployRequest[];
  readonly calls: Call[];
  readonly aborted: string[];
}

export interface Serving {
  readonly port: number;
  readonly rpc: RpcServer;
  readonly health: HealthRegistry;
  readonly received: ReceivedCalls;
  readonly onePort: OnePort;
}

/** Starts a server whose handlers select their behaviour by the deployment id. */
export async function serve(
  options: Partial<RpcServerOptions> & Partial<Pick<OnePortOptions, "tls" | "openPaths" | "limits">> = {},
): Promise<Serving> {
  const received: ReceivedCalls = { deployed: [], calls: [], aborted: [] };
  const health = new HealthRegistry();
  const deployments = bindService(DeploymentService, {
    deploy: async (request, call) => {
      received.deployed.push(request);
      received.calls.push(call);
      const id = request.deploymentUnit?.id ?? "";
      if (id === "invalid")
        throw invalidArgument("unit", [{ path: "$.deployment_unit.id", message: "is invalid", fix: "choose another" }]);
      if (id === "rejected") throw failedPrecondition("odgm", "ODGM is disabled in this cluster");
      if (id === "crash") throw new TypeError("secret detail");
      if (id === "slow") {
        const note = (): unknown => received.aborted.push((call.signal.reason as Error).message);
        if (call.signal.aborted) note();
        else call.signal.addEventListener("abort", note);
        await sleep(realAmbient.timers, 20_000, call.signal);
      }
      return { status: StatusCode.OK, deploymentId: id };
    },
    watchClassRuntimes: async function* (request, call) {
      received.calls.push(call);
      if (request.packageName === "rejected") throw failedPrecondition("package", "this package cannot be watched");
      try {
        for (let n = 0; ; n += 1) {
          yield { resumeToken: String(n) };
          if (n >= 2) await sleep(realAmbient.timers, 20_000, call.signal);
        }
      } finally {
        received.aborted.push("watch ended");
      }
    },
  });
  const info = bindService(CrmInfoService, { getEnvHealth: async ({ env }) => ({ envName: env, status: "Healthy" }) });
  const bound = [deployments, info, ...health.services()];
  const names = bound.map(({ service }) => service.typeName);
  const rpc = new RpcServer({
    services: [...bound, ...reflectionServices(FILE_DESCRIPTORS, names)],
    ambient: realAmbient,
    ...options,
  });
  const onePort = await listenOnePort({
    host: "127.0.0.1",
    port: 0,
    rpc,
    http: (request, response) => void response.end(`http ${request.method} ${request.url}`),
    timers: realAmbient.timers,
    ...(options.tls ? { tls: options.tls } : {}),
    ...(options.limits ? { limits: options.limits } : {}),
    ...(options.openPaths ? { openPaths: options.openPaths } : {}),
  });
  return { port: onePort.port, rpc, health, received, onePort };
}
