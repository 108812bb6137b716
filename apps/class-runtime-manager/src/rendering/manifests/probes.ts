import type { ClassFunction, EnvironmentConfigSpec } from "@oaas/contracts/crd";
import type { PodSettings, Probe } from "@oaas/models";
import type { Policy } from "../plan/policy.ts";

type HealthCheck = NonNullable<ClassFunction["health_check"]>;
type Timing = EnvironmentConfigSpec["odgm"]["health_checks"]["function"];

/** Settings shared by all probes of a container. */
interface Check {
  readonly action: Readonly<Record<string, unknown>>;
  readonly timing: Timing;
  /** Whether the initial delay was stated; otherwise only the liveness probe is delayed. */
  readonly delayStated: boolean;
  readonly successThreshold: number | undefined;
}

/** Defaults from the design documents. */
export const FUNCTION_TIMING: Timing = {
  initial_delay_seconds: 10,
  period_seconds: 5,
  timeout_seconds: 3,
  failure_threshold: 3,
};
export const ODGM_TIMING: Timing = {
  initial_delay_seconds: 30,
  period_seconds: 10,
  timeout_seconds: 5,
  failure_threshold: 3,
};

/** Failures that the startup probe tolerates. */
const STARTUP_FAILURES = 30;

/** The probes of a function container; empty when its health check is disabled. */
export function renderFunctionProbes(
  stated: HealthCheck | undefined,
  port: number,
  policy: Policy["probes"],
  defaults: Timing = FUNCTION_TIMING,
): Readonly<Record<string, unknown>> {
  if (stated?.type === "none") return {};
  return renderProbes(
    {
      action: actionOf(stated, port),
      timing: {
        initial_delay_seconds: stated?.initial_delay_seconds ?? defaults.initial_delay_seconds,
        period_seconds: stated?.period_seconds ?? defaults.period_seconds,
        timeout_seconds: stated?.timeout_seconds ?? defaults.timeout_seconds,
        failure_threshold: stated?.failure_threshold ?? defaults.failure_threshold,
      },
      delayStated: stated?.initial_delay_seconds !== undefined,
      successThreshold: stated?.success_threshold ?? defaults.success_threshold,
    },
    policy,
  );
}

/** Stated probes with their port resolved: each replaces the template's probe of its kind. */
export function renderStatedProbes(settings: PodSettings, port: number): Readonly<Record<string, Probe>> {
  const stated = (["startupProbe", "readinessProbe", "livenessProbe"] as const).flatMap((kind) => {
    const probe = settings[kind];
    return probe === undefined ? [] : [[kind, withPort(probe, port)] as const];
  });
  return Object.fromEntries(stated);
}

function withPort(probe: Probe, functionPort: number): Probe {
  const portOf = (stated: string | number | undefined): number => (typeof stated === "number" ? stated : functionPort);
  const { httpGet, grpc, tcpSocket } = probe;
  return {
    ...probe,
    ...(httpGet === undefined ? {} : { httpGet: { ...httpGet, port: portOf(httpGet.port) } }),
    ...(grpc === undefined ? {} : { grpc: { ...grpc, port: portOf(grpc.port) } }),
    ...(tcpSocket === undefined ? {} : { tcpSocket: { port: portOf(tcpSocket.port) } }),
  };
}

/** TCP probes, since the state store has no health endpoint. */
export function renderPortProbes(
  port: number,
  policy: Policy["probes"],
  timing: Timing,
): Readonly<Record<string, unknown>> {
  return renderProbes(
    { action: { tcpSocket: { port } }, timing, delayStated: false, successThreshold: timing.success_threshold },
    policy,
  );
}

function actionOf(check: HealthCheck | undefined, functionPort: number): Readonly<Record<string, unknown>> {
  const port = check?.port ?? functionPort;
  switch (check?.type) {
    case "http":
      return { httpGet: { path: check.path ?? "/health", port } };
    case "grpc":
      return { grpc: { port } };
    case "tcp":
    case "none":
    case undefined:
      return { tcpSocket: { port } };
  }
}

function renderProbes({ action, timing, delayStated, successThreshold }: Check, policy: Policy["probes"]) {
  const numbers = {
    periodSeconds: timing.period_seconds,
    timeoutSeconds: timing.timeout_seconds,
    failureThreshold: timing.failure_threshold,
  };
  const delay = { initialDelaySeconds: timing.initial_delay_seconds };
  return {
    readinessProbe: {
      ...action,
      ...numbers,
      ...(delayStated ? delay : {}),
      ...(successThreshold === undefined ? {} : { successThreshold }),
    },
    ...(policy.liveness ? { livenessProbe: { ...action, ...numbers, ...(policy.startup ? {} : delay) } } : {}),
    ...(policy.startup ? { startupProbe: { ...action, ...numbers, failureThreshold: STARTUP_FAILURES } } : {}),
  };
}
