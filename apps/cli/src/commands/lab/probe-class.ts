import { isFault } from "@oaas/foundation";
import { undefinedIfNotFound, type Lab, type Condition } from "./lab.ts";

/** The class that scenarios deploy and remove. */
export const PROBE = "lab-probe";
const IMAGE = "example.test/lab-probe:1.0.0";
export const MISSING_IMAGE = "example.test/lab-probe:missing";

const PACKAGE = {
  name: PROBE,
  version: "1.0.0",
  metadata: { description: "Test class of the fault injection lab" },
  classes: [
    { key: "Probe", function_bindings: [{ name: "ping", function_key: "Probe.ping", access_modifier: "PUBLIC" }] },
  ],
  functions: [{ key: "Probe.ping", provision_config: { container_image: IMAGE } }],
};

/** Changes of the class. */
interface ProbeFunction {
  readonly container_image?: string;
  readonly cpu_request?: string;
  readonly cpu_limit?: string;
  readonly isEnforced?: boolean;
}

/** Requirements of the class, which the class runtime manager enforces. */
const ENFORCED = {
  nfr_requirements: { max_latency_ms: 100 },
  enforcement: { mode: "enforce", dimensions: ["replicas"] },
};

/**
 * Deploys the class with a latency requirement that is enforced. One replica serves 100 requests per second, and the
 * nodes of every cluster have room for the largest number of replicas.
 */
export const ENFORCED_PROBE: ProbeFunction = { isEnforced: true, cpu_request: "100m", cpu_limit: "500m" };

/** The desired deployment of the class in these clusters, optionally with another image or enforced requirements. */
export function probeDeployment(
  clusters: readonly string[],
  { isEnforced = false, ...changes }: ProbeFunction = {},
): Record<string, unknown> {
  return {
    key: PROBE,
    package_name: PROBE,
    class_key: "Probe",
    target_clusters: clusters,
    ...(isEnforced ? ENFORCED : {}),
    ...(Object.keys(changes).length === 0
      ? {}
      : { functions: [{ function_key: "Probe.ping", provision_config: { container_image: IMAGE, ...changes } }] }),
  };
}

export async function registerProbe(lab: Lab): Promise<void> {
  await lab
    .call("createPackage", { body: PACKAGE, query: { reason: "fault injection lab" } })
    .catch((thrown: unknown) => {
      if (!isFault(thrown, "already-exists")) throw thrown;
    });
}

/** Deploys the class to every cluster and waits until it runs. */
export async function deployProbe(lab: Lab, changes?: ProbeFunction): Promise<void> {
  lab.doing(`deploy class Probe to ${lab.allClusters.join(", ")}`);
  await registerProbe(lab);
  await lab.call("createDeployment", {
    body: probeDeployment(lab.allClusters, changes),
    query: { reason: "fault injection lab" },
  });
  await lab.waitUntil("class runs in every cluster", isRunningIn(lab, lab.allClusters));
}

/** Independent of --timeout: cleaning up may take longer than a check. */
const REMOVED_WITHIN_MS = 120_000;

/** Deletes the class and waits until it is removed from every cluster. */
export async function removeProbe(lab: Lab): Promise<void> {
  lab.doing("delete the class");
  await undefinedIfNotFound(lab.call("deleteDeployment", { parameters: { key: PROBE } }));
  const isRemoved: Condition = async () => {
    const { clusters } = await lab.health();
    const left = clusters.filter(({ classes }) => classes.some(isProbe)).map(({ name }) => name);
    if (left.length > 0) return `still present in ${left.join(", ")}`;
    await undefinedIfNotFound(lab.call("deletePackage", { parameters: { name: PROBE } }));
    return undefined;
  };
  await lab.waitUntil("class is removed from every cluster", isRemoved, REMOVED_WITHIN_MS);
}

export function isProbe({ name }: { readonly name: string }): boolean {
  return name.startsWith(`${PROBE}-`);
}

/** The package manager reports the class as Running in these clusters. */
export function isRunningIn(lab: Lab, clusters: readonly string[]): Condition {
  return async () => {
    const { value } = await lab.call("getDeploymentStatus", { parameters: { key: PROBE } });
    const not = clusters.flatMap((name) => {
      const found = value.clusters.find(({ cluster }) => cluster === name);
      const isRunning = found?.reachable === true && found.condition === "Running";
      return isRunning ? [] : [`${name} is ${found?.error ?? found?.message ?? found?.condition ?? "not reported"}`];
    });
    return not.length === 0 ? undefined : not.join("; ");
  };
}

/** The package manager reports the target as unreachable, with an error. */
export function isTargetUnreachable(lab: Lab): Condition {
  return async () => {
    const { value } = await lab.call("getDeploymentStatus", { parameters: { key: PROBE } });
    const found = value.clusters.find(({ cluster }) => cluster === lab.target);
    return found?.reachable === false && found.error !== null ? undefined : `${lab.target} is still reachable`;
  };
}

/** The class is available according to the API server of the target. */
export function isAvailableInTarget(lab: Lab): Condition {
  return async () => {
    const { clusters } = await lab.health();
    const found = clusters.find(({ name }) => name === lab.target)?.classes.find(isProbe);
    return found?.phase === "available" ? undefined : `its phase is ${found?.phase ?? "none: it is missing"}`;
  };
}

/** The package manager reports the target as healthy or not. */
export function hasTargetHealth(lab: Lab, isHealthy: boolean): Condition {
  return async () => {
    const { value } = await lab.call("listClusters");
    const status = value.find(({ name }) => name === lab.target)?.health.status ?? "unknown";
    return (status === "Healthy") === isHealthy ? undefined : `${lab.target} is ${status}`;
  };
}
