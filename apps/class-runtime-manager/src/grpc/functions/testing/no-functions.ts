import { virtualAmbient } from "@oaas/foundation/virtual";
import type { DeploymentServiceDeps } from "../../deployments/deployment-service.ts";

/** Dependencies for services whose functions have no pods and cannot be invoked. */
export const NO_FUNCTIONS: Pick<DeploymentServiceDeps, "logs" | "invocations"> = {
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
