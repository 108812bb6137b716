import { virtualAmbient } from "@oaas/foundation/virtual";
import type { DeploymentServiceDeps } from "../../deployments/deployment-service.ts";

/** Dependencies for services without controllers: functions have no pods, and units cannot be rendered. */
export const NO_FUNCTIONS: Pick<DeploymentServiceDeps, "logs" | "invocations" | "preview"> = {
  preview: () => Promise.reject(new Error("not called")),
  logs: {
    ambient: virtualAmbient(1),
    client: { podLog: () => Promise.reject(new Error("not called")) },
    podsOf: () => [],
  },
  invocations: {
    isAllowed: false,
    client: { proxyService: () => Promise.reject(new Error("not called")) },
    serviceOf: () => Promise.resolve(undefined),
  },
};
