import { envList, type Env } from "./env.ts";
import type { ClassPlan, FunctionPlan } from "../plan/class-plan.ts";
import { resolveImage, imagePullPolicy } from "../plan/images.ts";
import { omitEmpty } from "./manifest.ts";
import { renderFunctionProbes } from "./probes.ts";
import { CONTAINER_SECURITY, podSecurity } from "./security.ts";

/** What a workload maker gets about one function. */
export interface WorkloadContext {
  readonly plan: ClassPlan;
  readonly fn: FunctionPlan;
  /** All variables of the container, the user's own on top. */
  readonly env: Env;
  /** Addresses to wait for before the function starts. */
  readonly waitFor: readonly { readonly host: string; readonly port: number }[];
}

/** The name of a function's container in every workload. */
export const FUNCTION_CONTAINER = "function";

/** A function's container. */
export function renderFunctionContainer({ plan, fn, env }: WorkloadContext): Readonly<Record<string, unknown>> {
  const environment = plan.input.environment?.spec;
  return {
    name: FUNCTION_CONTAINER,
    image: fn.image,
    imagePullPolicy: imagePullPolicy(fn.image, environment?.images?.pull_policy),
    ports: [{ name: "http", containerPort: fn.port, protocol: "TCP" }],
    env: envList(env),
    resources: fn.resources,
    volumeMounts: omitEmpty(fn.spec.volume_mounts),
    securityContext: CONTAINER_SECURITY,
    ...renderFunctionProbes(
      fn.spec.health_check,
      fn.port,
      plan.policy.probes,
      environment?.odgm.health_checks.function,
    ),
  };
}

/** A function's pod without its place: container, waiting container, volumes, security, identity. */
export function renderFunctionPod(context: WorkloadContext): Readonly<Record<string, unknown>> {
  const { plan, fn } = context;
  const environment = plan.input.environment?.spec;
  return {
    initContainers: omitEmpty(renderWaitContainers(context)),
    containers: [renderFunctionContainer(context)],
    volumes: omitEmpty(fn.spec.volumes),
    securityContext: podSecurity([fn.port]),
    terminationGracePeriodSeconds: plan.policy.terminationGraceSeconds,
    ...renderPodIdentity(environment),
  };
}

type EnvironmentSpec = NonNullable<WorkloadContext["plan"]["input"]["environment"]>["spec"];

/** Functions do not speak to the Kubernetes API, so that they get no token unless the environment names an account. */
export function renderPodIdentity(environment: EnvironmentSpec | undefined): Readonly<Record<string, unknown>> {
  const account = environment?.serviceAccountName;
  return {
    serviceAccountName: account,
    automountServiceAccountToken: account === undefined ? false : undefined,
    enableServiceLinks: false,
    imagePullSecrets: omitEmpty(environment?.imagePullSecrets),
  };
}

/** Holds a pod back until its addons answer. Host and port are arguments, never part of the script. */
function renderWaitContainers({ plan, waitFor }: WorkloadContext): readonly unknown[] {
  const { cluster, environment } = plan.input;
  if (cluster.waitImage === undefined || !plan.policy.waitsForOdgm) return [];
  // The operator's own choice needs nobody's leave; only where it is pulled from follows the environment.
  const pulled = resolveImage(cluster.waitImage, environment?.spec.images);
  const image = pulled.ok ? pulled.value : cluster.waitImage;
  return waitFor.map(({ host, port }, index) => ({
    name: `wait-${index}`,
    image,
    imagePullPolicy: imagePullPolicy(image, environment?.spec.images?.pull_policy),
    command: ["sh", "-c", 'until nc -z -w 2 "$0" "$1"; do sleep 1; done', host, String(port)],
    resources: {
      requests: { cpu: "10m", memory: "16Mi" },
      limits: { cpu: "100m", memory: "32Mi" },
    },
    securityContext: CONTAINER_SECURITY,
  }));
}
