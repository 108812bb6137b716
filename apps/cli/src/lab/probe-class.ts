import { isFault } from "@oaas/foundation";
import { orNothing, type Lab, type Probe } from "./lab.ts";

/** The class that scenarios play with: theirs alone, and gone afterwards. */
export const PROBE = "lab-probe";
const IMAGE = "example.test/lab-probe:1.0.0";
export const MISSING_IMAGE = "example.test/lab-probe:missing";

const PACKAGE = {
  name: PROBE,
  version: "1.0.0",
  metadata: { description: "What the failure lab plays with" },
  classes: [
    { key: "Probe", function_bindings: [{ name: "ping", function_key: "Probe.ping", access_modifier: "PUBLIC" }] },
  ],
  functions: [{ key: "Probe.ping", provision_config: { container_image: IMAGE } }],
};

/** The wish to have it in these clusters, with another image when one is given. */
export function wish(clusters: readonly string[], image?: string): Record<string, unknown> {
  return {
    key: PROBE,
    package_name: PROBE,
    class_key: "Probe",
    target_clusters: clusters,
    ...(image === undefined
      ? {}
      : { functions: [{ function_key: "Probe.ping", provision_config: { container_image: image } }] }),
  };
}

export async function registerProbe(lab: Lab): Promise<void> {
  await lab.call("createPackage", { body: PACKAGE, query: { reason: "the failure lab" } }).catch((thrown: unknown) => {
    if (!isFault(thrown, "already-exists")) throw thrown;
  });
}

/** Has the class running in every cluster. */
export async function deployProbe(lab: Lab): Promise<void> {
  lab.doing(`deploys the class Probe to ${lab.everywhere.join(", ")}`);
  await registerProbe(lab);
  await lab.call("createDeployment", { body: wish(lab.everywhere), query: { reason: "the failure lab" } });
  await lab.until("the class runs in every cluster", runsIn(lab, lab.everywhere));
}

/** However impatient the checks are: putting things back takes as long as it takes. */
const REMOVED_WITHIN_MS = 120_000;

/** Takes the class away again, and waits until nothing of it is left anywhere. */
export async function removeProbe(lab: Lab): Promise<void> {
  lab.doing("removes the class");
  await orNothing(lab.call("deleteDeployment", { parameters: { key: PROBE } }));
  const isGone: Probe = async () => {
    const { clusters } = await lab.health();
    const left = clusters.filter(({ classes }) => classes.some(isProbe)).map(({ name }) => name);
    if (left.length > 0) return `it is still in ${left.join(", ")}`;
    await orNothing(lab.call("deletePackage", { parameters: { name: PROBE } }));
    return undefined;
  };
  await lab.until("nothing of the class is left, in no cluster", isGone, REMOVED_WITHIN_MS);
}

export function isProbe({ name }: { readonly name: string }): boolean {
  return name.startsWith(`${PROBE}-`);
}

/** The class is Running in these clusters, as the package manager says. */
export function runsIn(lab: Lab, clusters: readonly string[]): Probe {
  return async () => {
    const { value } = await lab.call("getDeploymentStatus", { parameters: { key: PROBE } });
    const not = clusters.flatMap((name) => {
      const found = value.clusters.find(({ cluster }) => cluster === name);
      const isIt = found?.reachable === true && found.condition === "Running";
      return isIt ? [] : [`${name} is ${found?.error ?? found?.message ?? found?.condition ?? "not told of"}`];
    });
    return not.length === 0 ? undefined : not.join("; ");
  };
}

/** The package manager knows that it cannot reach the target, and says why. */
export function isOutOfReach(lab: Lab): Probe {
  return async () => {
    const { value } = await lab.call("getDeploymentStatus", { parameters: { key: PROBE } });
    const found = value.clusters.find(({ cluster }) => cluster === lab.target);
    return found?.reachable === false && found.error !== null ? undefined : `${lab.target} still answers`;
  };
}

/** The class is there in the target's own API server, and available. */
export function livesOnInTarget(lab: Lab): Probe {
  return async () => {
    const { clusters } = await lab.health();
    const found = clusters.find(({ name }) => name === lab.target)?.classes.find(isProbe);
    return found?.phase === "available" ? undefined : `it is ${found?.phase ?? "gone"}`;
  };
}

/** The package manager calls the target healthy, or not. */
export function targetHealth(lab: Lab, isWell: boolean): Probe {
  return async () => {
    const { value } = await lab.call("listClusters");
    const status = value.find(({ name }) => name === lab.target)?.health.status ?? "unknown";
    return (status === "Healthy") === isWell ? undefined : `${lab.target} is ${status}`;
  };
}
