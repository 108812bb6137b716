import { withFault, type Lab } from "./lab.ts";
import { isProbe, isRunningIn, PROBE, probeDeployment, registerProbe } from "./probe-class.ts";

/** How long the cluster must be lost before the units are moved. */
const DELAY_SECONDS = 5;

/** Loses the cluster that runs the class, and follows the automatic re-plan. */
export async function runClusterLost(lab: Lab): Promise<void> {
  lab.doing(`deploy class Probe with replan: auto after ${DELAY_SECONDS} s; the planner chooses the cluster`);
  await registerProbe(lab);
  const body = {
    ...probeDeployment([]),
    available_envs: lab.allClusters,
    // One replica is enough, so that the class runs in one cluster.
    nfr_requirements: { availability: 0.9 },
    replan: "auto",
    replan_cluster_lost_secs: DELAY_SECONDS,
  };
  await lab.call("createDeployment", { body, query: { reason: "fault injection lab" } });
  const lost = (await clustersOf(lab))[0] ?? lab.target;
  await lab.waitUntil(`class runs in ${lost}`, isRunningIn(lab, [lost]));
  let home = "";
  const lostAtMs = lab.now();
  await withFault(lab, { fault: "cluster-down", cluster: lost }, async () => {
    await lab.waitUntil("class runs in another cluster", async () => {
      const now = (await clustersOf(lab)).find((name) => name !== lost);
      if (now === undefined) return `it is planned for ${lost} only`;
      home = now;
      return isRunningIn(lab, [now])();
    });
    const seconds = (lab.now() - lostAtMs) / 1000;
    lab.doing(
      `running in ${home} ${seconds.toFixed(1)} s after ${lost} was lost; the stated delay is ${DELAY_SECONDS} s`,
    );
    await lab.waitUntil("status shows the applied plan and its reason", async () => {
      const { value } = await lab.call("getDeploymentStatus", { parameters: { key: PROBE } });
      const { replan } = value;
      if (replan?.state !== "applied" || replan.reason !== "cluster_lost") return `re-plan is ${replan?.state}`;
      lab.doing(`status: ${replan.message}`);
      return undefined;
    });
    await lab.waitUntil("revision is written by package-manager/replan", async () => {
      const { value } = await lab.call("listDeploymentRevisions", { parameters: { key: PROBE } });
      const author = value[0]?.author;
      return author === "package-manager/replan" ? undefined : `its author is ${author}`;
    });
  });
  await lab.waitUntil(`old unit is removed from ${lost}`, async () => {
    const found = (await lab.health()).clusters.find(({ name }) => name === lost);
    return found?.classes.some(isProbe) === true ? "it is still there" : undefined;
  });
  await lab.waitUntil(`class stays in ${home}`, isRunningIn(lab, [home]));
}

/** The clusters that the plan in force uses. */
async function clustersOf(lab: Lab): Promise<readonly string[]> {
  const { value } = await lab.call("getDeployment", { parameters: { key: PROBE } });
  return value.status?.selected_envs ?? [];
}
