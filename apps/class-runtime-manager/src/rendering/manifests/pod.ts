import type { PodSettings } from "@oaas/models";
import { envList, type Env } from "./env.ts";
import type { ClassPlan, FunctionPlan } from "../plan/class-plan.ts";
import { resolveImage, imagePullPolicy } from "../plan/images.ts";
import { omitEmpty } from "./manifest.ts";
import { renderFunctionProbes, renderStatedProbes } from "./probes.ts";
import { containerSecurity, CONTAINER_SECURITY, podSecurity } from "./security.ts";

/** A ConfigMap that is mounted in every function. */
export interface FunctionFiles {
  /** Name of the volume. */
  readonly volume: string;
  readonly configMap: string;
  readonly mountPath: string;
}

/** Input for rendering the workload of one function. */
export interface WorkloadContext {
  readonly plan: ClassPlan;
  readonly fn: FunctionPlan;
  /** All environment variables of the container. */
  readonly env: Env;
  /** Addresses to wait for before the function starts. */
  readonly waitFor: readonly { readonly host: string; readonly port: number }[];
  /** Files of addons, without those whose volume name or path the function uses itself. */
  readonly files: readonly FunctionFiles[];
}

function partsOf(path: string): readonly string[] {
  return path.split("/").filter((part) => part !== "");
}

/** The files that a function can read: its own volumes take precedence. */
export function readableFiles({ spec }: FunctionPlan, offered: readonly FunctionFiles[]): readonly FunctionFiles[] {
  const { provision_config: settings } = spec;
  const volumes = new Set([...(spec.volumes ?? []), ...(settings?.volumes ?? [])].map(({ name }) => name));
  const paths = [...(spec.volume_mounts ?? []), ...(settings?.volumeMounts ?? [])].map(({ mountPath }) => mountPath);
  return offered.filter(
    ({ volume, mountPath }) => !volumes.has(volume) && !paths.some((path) => overlaps(path, mountPath)),
  );
}

/** Whether one path contains the other. */
function overlaps(one: string, other: string): boolean {
  const [a, b] = [partsOf(one), partsOf(other)];
  return a.slice(0, b.length).every((part, index) => part === b[index]);
}

/** Name of the function container in every workload. */
export const FUNCTION_CONTAINER = "function";

export function renderFunctionContainer({ plan, fn, env, files }: WorkloadContext): Readonly<Record<string, unknown>> {
  const environment = plan.input.environment?.spec;
  const settings = fn.spec.provision_config;
  return {
    name: FUNCTION_CONTAINER,
    image: fn.image,
    imagePullPolicy: imagePullPolicy(fn.image, environment?.images?.pull_policy),
    ports: [{ name: "http", containerPort: fn.port, protocol: "TCP" }],
    ...(settings?.command === undefined ? {} : { command: settings.command }),
    ...(settings?.args === undefined ? {} : { args: settings.args }),
    env: envList(env, settings?.env),
    ...(settings?.envFrom === undefined ? {} : { envFrom: settings.envFrom }),
    resources: fn.resources,
    volumeMounts: omitEmpty([
      ...(fn.spec.volume_mounts ?? []),
      ...(settings?.volumeMounts ?? []),
      ...files.map(({ volume, mountPath }) => ({ name: volume, mountPath, readOnly: true })),
    ]),
    securityContext: containerSecurity(settings?.securityContext),
    ...renderFunctionProbes(
      fn.spec.health_check,
      fn.port,
      plan.policy.probes,
      environment?.odgm.health_checks.function,
    ),
    ...renderStatedProbes(settings ?? {}, fn.port),
  };
}

/** Renders the pod of a function without scheduling: containers, volumes, security, identity. */
export function renderFunctionPod(context: WorkloadContext): Readonly<Record<string, unknown>> {
  const { plan, fn } = context;
  const environment = plan.input.environment?.spec;
  return {
    initContainers: omitEmpty(renderWaitContainers(context)),
    containers: [{ ...renderFunctionContainer(context), ...renderDrain(plan) }],
    volumes: renderVolumes(context),
    securityContext: podSecurity([fn.port]),
    terminationGracePeriodSeconds: plan.policy.terminationGraceSeconds,
    ...renderPodIdentity(environment, fn.spec.provision_config),
  };
}

/**
 * Keeps a function serving while it is removed from its Service: proxies learn of that after the container gets SIGTERM, and
 * most servers stop accepting connections at once. Kubernetes 1.30 and later sleep themselves, without a program in the
 * image; `pods/resize` shows that a cluster is recent enough.
 */
function renderDrain({ input, policy }: WorkloadContext["plan"]): Readonly<Record<string, unknown>> {
  if (policy.drainSeconds === 0 || !input.cluster.capabilities.podResize) return {};
  return { lifecycle: { preStop: { sleep: { seconds: policy.drainSeconds } } } };
}

/** The volumes of a function, from both places where a class may state them, and the files of addons. */
export function renderVolumes({ fn: { spec }, files }: WorkloadContext): readonly unknown[] | undefined {
  return omitEmpty([
    ...(spec.volumes ?? []),
    ...(spec.provision_config?.volumes ?? []),
    ...files.map(({ volume, configMap }) => ({ name: volume, configMap: { name: configMap } })),
  ]);
}

type EnvironmentSpec = NonNullable<WorkloadContext["plan"]["input"]["environment"]>["spec"];

/** Functions do not call the Kubernetes API: they get no token unless a service account is stated. */
export function renderPodIdentity(
  environment: EnvironmentSpec | undefined,
  stated: Pick<PodSettings, "imagePullSecrets" | "serviceAccountName" | "volumes"> = {},
): Readonly<Record<string, unknown>> {
  const account = stated.serviceAccountName ?? environment?.serviceAccountName;
  return {
    // The API server rejects a projected token in a workload without the name, also for the default account.
    serviceAccountName: account ?? (hasProjectedToken(stated.volumes) ? "default" : undefined),
    automountServiceAccountToken: account === undefined ? false : undefined,
    enableServiceLinks: false,
    imagePullSecrets: omitEmpty(stated.imagePullSecrets ?? environment?.imagePullSecrets),
  };
}

function hasProjectedToken(volumes: PodSettings["volumes"] = []): boolean {
  return volumes.some(({ projected }) => projected?.sources.some((source) => source.serviceAccountToken !== undefined));
}

/** Init containers that wait until addons accept connections. Host and port are arguments, never part of the script. */
function renderWaitContainers({ plan, waitFor }: WorkloadContext): readonly unknown[] {
  const { cluster, environment } = plan.input;
  if (cluster.waitImage === undefined) return [];
  // The operator configures this image, so `allowed_registries` does not apply; registry mirrors do.
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
