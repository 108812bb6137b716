import { Fault, isFault } from "@oaas/foundation";
import type { StackHealth } from "../local-stack/running-stack.ts";
import type { DecisionRecord } from "@oaas/nfr/policy";
import { runClusterLost } from "./cluster-lost.ts";
import { watchEnforcement } from "./enforcement-watch.ts";
import { undefinedIfNotFound, withFault, type Lab } from "./lab.ts";
import {
  deployProbe,
  ENFORCED_PROBE,
  isTargetUnreachable,
  isProbe,
  isAvailableInTarget,
  MISSING_IMAGE,
  PROBE,
  registerProbe,
  isRunningIn,
  hasTargetHealth,
  probeDeployment,
} from "./probe-class.ts";

/** A fault injection scenario: the fault, the expected behaviour, and a check for each expectation. */
export interface Scenario {
  readonly name: string;
  readonly brief: string;
  readonly expectations: readonly string[];
  run(lab: Lab): Promise<void>;
}

export const SCENARIOS: readonly Scenario[] = [
  {
    name: "cluster-down",
    brief: "A whole cluster goes down and recovers",
    expectations: [
      "the package manager reports the cluster as unreachable, with the reason",
      "the class keeps running in the other clusters",
      "after the cluster is back, the class runs everywhere again without any action",
    ],
    run: async (lab) => {
      await deployProbe(lab);
      await withFault(lab, { fault: "cluster-down", cluster: lab.target }, async () => {
        await lab.waitUntil(`package manager reports ${lab.target} as unreachable`, isTargetUnreachable(lab));
        await lab.waitUntil(`package manager no longer reports ${lab.target} as healthy`, hasTargetHealth(lab, false));
        await lab.waitUntil("class runs in the other clusters", isRunningIn(lab, lab.others));
      });
      await lab.waitUntil(`${lab.target} is healthy again`, hasTargetHealth(lab, true));
      await lab.waitUntil("class runs in every cluster again", isRunningIn(lab, lab.allClusters));
    },
  },
  {
    name: "cluster-lost",
    brief: "The cluster that the planner chose is lost for longer than the deployment allows",
    expectations: [
      "the status of the deployment shows the new plan with its reason",
      "the class runs in another cluster soon after the stated delay, as a revision of package-manager/replan",
      "after the cluster is back, its old unit is removed and the class stays where it is",
    ],
    run: runClusterLost,
  },
  {
    name: "crm-killed",
    brief: "The class runtime manager of a cluster is killed and restarted",
    expectations: [
      "the package manager reports the cluster as unreachable",
      "the class keeps running in the cluster",
      "a class deleted meanwhile is removed once the manager is back",
    ],
    run: async (lab) => {
      await deployProbe(lab);
      await withFault(lab, { fault: "crm-killed", cluster: lab.target }, async () => {
        await lab.waitUntil(`package manager reports ${lab.target} as unreachable`, isTargetUnreachable(lab));
        await lab.waitUntil(`class keeps running in ${lab.target}`, isAvailableInTarget(lab));
        await deleteDuringFault(lab);
      });
      await lab.waitUntil(`class is removed from ${lab.target}`, isRemovedFrom(lab, [lab.target]));
    },
  },
  {
    name: "partition",
    brief: "The network between the package manager and a cluster is interrupted",
    expectations: [
      "the package manager times out and reports the cluster as unreachable",
      "the class keeps running in the cluster",
      "a class deleted meanwhile is removed once the network is back",
    ],
    run: async (lab) => {
      await deployProbe(lab);
      await withFault(lab, { fault: "partition", cluster: lab.target }, async () => {
        await lab.waitUntil(`package manager reports ${lab.target} as unreachable`, isTargetUnreachable(lab));
        await lab.waitUntil(`class keeps running in ${lab.target}`, isAvailableInTarget(lab));
        await lab.waitUntil("class runs in the other clusters", isRunningIn(lab, lab.others));
        await deleteDuringFault(lab);
      });
      await lab.waitUntil(`class is removed from ${lab.target}`, isRemovedFrom(lab, [lab.target]));
    },
  },
  {
    name: "pm-killed",
    brief: "The package manager is killed during a deployment and restarted",
    expectations: [
      "requests fail while it is down; running classes keep running",
      "after the restart it resumes the deployment: the class runs in every cluster",
      "the class is deployed exactly once per cluster",
    ],
    run: async (lab) => {
      await registerProbe(lab);
      lab.doing(`deploy class Probe to ${lab.allClusters.join(", ")}`);
      let rejection: string | undefined;
      const sent = lab.call("createDeployment", { body: probeDeployment(lab.allClusters) }).then(
        () => undefined,
        (thrown: unknown) => void (rejection = Fault.from(thrown).message),
      );
      await lab.waitUntil("package manager has stored the deployment", async () =>
        (await undefinedIfNotFound(lab.call("getDeployment", { parameters: { key: PROBE } })))
          ? undefined
          : (rejection ?? "not stored yet"),
      );
      // Other classes may still be progressing; compare only those that are available.
      const isSettled = (one: { readonly name: string; readonly phase: string }): boolean =>
        !isProbe(one) && one.phase === "available";
      const before = (await lab.health()).clusters.flatMap(({ classes }) => classes).filter(isSettled);
      await withFault(lab, { fault: "pm-killed" }, async () => {
        await sent;
        await lab.waitUntil("package manager does not respond", () =>
          lab.call("getHealth").then(
            () => "it responds",
            (thrown: unknown) => (isFault(thrown, "unavailable") ? undefined : String(thrown)),
          ),
        );
        await lab.waitUntil("other classes keep running", async () => {
          const there = (await lab.health()).clusters.flatMap(({ classes }) => classes);
          const lost = before.filter(({ name, phase }) => there.find((one) => one.name === name)?.phase !== phase);
          return lost.length === 0 ? undefined : `${lost.map(({ name }) => name).join(", ")} changed`;
        });
      });
      await lab.waitUntil("class runs in every cluster", isRunningIn(lab, lab.allClusters));
      await lab.waitUntil("class is deployed once per cluster", async () => {
        const { clusters } = await lab.health();
        const counts = clusters.map(({ name, classes }) => `${name} has ${classes.filter(isProbe).length}`);
        return counts.every((text) => text.endsWith(" 1")) ? undefined : counts.join(", ");
      });
    },
  },
  {
    name: "image-broken",
    brief: "An update references an image that does not exist",
    expectations: [
      "the class is not ready, and explain names the image as the cause",
      "the verdict is permanent: waiting does not help",
      "a rollback to the previous revision fixes it",
    ],
    run: async (lab) => {
      await deployProbe(lab);
      lab.doing(`update the image to ${MISSING_IMAGE}`);
      await lab.call("putDeployment", {
        parameters: { key: PROBE },
        body: probeDeployment(lab.allClusters, { container_image: MISSING_IMAGE }),
      });
      await lab.waitUntil("explain reports a permanent failure and names the image", async () => {
        const { value } = await lab.call("explainDeployment", { parameters: { key: PROBE } });
        if (value.verdict !== "permanent") return `the verdict is ${value.verdict}`;
        return JSON.stringify(value).includes(MISSING_IMAGE) ? undefined : value.summary;
      });
      lab.doing("roll back to revision 1");
      await lab.call("rollBackDeployment", {
        parameters: { key: PROBE },
        body: { revision: 1, reason: "fault injection lab" },
      });
      await lab.waitUntil("class runs in every cluster again", isRunningIn(lab, lab.allClusters));
    },
  },
  {
    name: "node-lost",
    brief: "A node of a cluster stops responding and recovers",
    expectations: [
      "the cluster reports one ready node less",
      "the class keeps running in the other clusters",
      "after the node recovers, the class runs everywhere again",
    ],
    run: async (lab) => {
      await deployProbe(lab);
      const nodes = (await lab.health()).clusters.find(({ name }) => name === lab.target)?.nodes ?? 0;
      let all = 0;
      await lab.waitUntil(`${lab.target} reports its nodes`, async () => {
        all = await readyNodes(lab);
        return all > 0 && all >= nodes ? undefined : `${all} nodes are ready`;
      });
      await withFault(lab, { fault: "node-lost", cluster: lab.target }, async () => {
        await lab.waitUntil(`${lab.target} reports ${all - 1} of ${all} nodes ready`, hasReadyNodes(lab, all - 1));
        await lab.waitUntil("class runs in the other clusters", isRunningIn(lab, lab.others));
      });
      await lab.waitUntil(`${lab.target} reports ${all} nodes ready`, hasReadyNodes(lab, all));
      await lab.waitUntil("class runs in every cluster", isRunningIn(lab, lab.allClusters));
    },
  },
  {
    name: "load-spike",
    brief: "The functions of a cluster get more load than they can serve",
    expectations: [
      "requests of the class pile up in front of its replicas, and its latency requirement is violated",
      "enforcement adds replicas in its emergency lane, with the numbers that decided",
      "the new replicas serve the load, and requests do not wait",
      "after the spike, enforcement removes replicas",
    ],
    run: async (lab) => {
      await deployProbe(lab, ENFORCED_PROBE);
      const waitForLoad = watchLoad(lab);
      const waitForEnforcement = watchEnforcement(lab);
      await waitForLoad("class serves its usual load", ({ failed_per_second: failed }) =>
        failed === 0 ? undefined : "fails requests",
      );
      await withFault(lab, { fault: "load-spike", cluster: lab.target }, async () => {
        await waitForEnforcement("latency requirement is violated", ({ measurements }) =>
          measurements.some(({ status }) => status === "violated") ? undefined : "it is not measured as violated",
        );
        await waitForEnforcement("enforcement adds replicas in its emergency lane", ({ decisions }) =>
          decisions.some(({ outcome }) => isChange(outcome, "emergency", 1)) ? undefined : "it added none",
        );
        await waitForLoad("requests do not wait", ({ mean_latency_ms: latency, failed_per_second: failed }) =>
          latency <= SLOW_MS && failed === 0 ? undefined : "is still too slow",
        );
        await lab.waitUntil("class runs in every cluster", isRunningIn(lab, lab.allClusters));
      });
      await waitForEnforcement(
        "enforcement removes replicas",
        ({ decisions }) =>
          decisions.some(({ outcome }) => isChange(outcome, "stable", -1)) ? undefined : "it removed none",
        CALM_WITHIN_MS,
      );
    },
  },
];

/** A request takes a tenth of it when it does not wait. */
const SLOW_MS = 100;

/** The samples of the spike must leave the windows first. Independent of --timeout. */
const CALM_WITHIN_MS = 180_000;

/** Whether a decision raised (1) or lowered (-1) a value in this lane. */
function isChange(outcome: DecisionRecord["outcome"], lane: string, direction: 1 | -1): boolean {
  return outcome.action === "apply" && outcome.lane === lane && Math.sign(outcome.to - outcome.from) === direction;
}

type Load = StackHealth["clusters"][number]["loads"][number];

/** Returns a function that waits until the load of the class meets a condition, and reports each change of it. */
function watchLoad(lab: Lab): (what: string, findProblem: (load: Load) => string | undefined) => Promise<void> {
  let last = "";
  return (what, findProblem) =>
    lab.waitUntil(`${what} in ${lab.target}`, async () => {
      const { clusters } = await lab.health();
      const loads = clusters.find(({ name }) => name === lab.target)?.loads ?? [];
      const load = loads.find(({ owner }) => isProbe({ name: owner }));
      if (load === undefined) return "it gets no requests";
      const text = describeLoad(load);
      if (text !== last) lab.doing(text);
      last = text;
      const problem = findProblem(load);
      return problem === undefined ? undefined : `it ${problem}: ${text}`;
    });
}

function describeLoad(load: Load): string {
  const {
    requests_per_second: requests,
    ready_replicas: count,
    mean_latency_ms: latency,
    failed_per_second: failed,
  } = load;
  const parts = [
    `${requests} requests/s on ${count} ${count === 1 ? "replica" : "replicas"}`,
    `${Math.round(latency)} ms on average`,
    ...(failed === 0 ? [] : [`${Math.round(failed)} failed/s`]),
    ...(load.autoscaler === undefined ? [] : [`autoscaler: ${load.autoscaler}`]),
  ];
  return parts.join(", ");
}

/** Deletes the class while its target is unreachable. */
async function deleteDuringFault(lab: Lab): Promise<void> {
  lab.doing(`delete the class while ${lab.target} is unreachable`);
  await lab.call("deleteDeployment", { parameters: { key: PROBE } });
  await lab.waitUntil("class is removed from the other clusters", isRemovedFrom(lab, lab.others));
}

function isRemovedFrom(lab: Lab, names: readonly string[]) {
  return async (): Promise<string | undefined> => {
    const { clusters } = await lab.health();
    const left = clusters.filter(({ name, classes }) => names.includes(name) && classes.some(isProbe));
    return left.length === 0 ? undefined : `still present in ${left.map(({ name }) => name).join(", ")}`;
  };
}

async function readyNodes(lab: Lab): Promise<number> {
  const { value } = await lab.call("listClusters");
  return value.find(({ name }) => name === lab.target)?.health.ready_nodes ?? 0;
}

function hasReadyNodes(lab: Lab, expected: number) {
  return async (): Promise<string | undefined> => {
    const ready = await readyNodes(lab);
    return ready === expected ? undefined : `${ready} nodes are ready`;
  };
}
