import { Fault, isFault } from "@oaas/foundation";
import type { StackFault } from "../stack/running-stack.ts";
import { orNothing, type Lab } from "./lab.ts";
import {
  deployProbe,
  isOutOfReach,
  isProbe,
  livesOnInTarget,
  MISSING_IMAGE,
  PROBE,
  registerProbe,
  runsIn,
  targetHealth,
  wish,
} from "./probe-class.ts";

/** A fault injection scenario: the fault, the expected behaviour, and a check for each expectation. */
export interface Scenario {
  readonly name: string;
  readonly brief: string;
  readonly sees: readonly string[];
  play(lab: Lab): Promise<void>;
}

export const SCENARIOS: readonly Scenario[] = [
  {
    name: "cluster-down",
    brief: "A whole cluster goes down and comes back",
    sees: [
      "the package manager reports the cluster as unreachable, with the reason",
      "the class keeps running in the other clusters",
      "after the cluster is back, the class runs everywhere again without any action",
    ],
    play: async (lab) => {
      await deployProbe(lab);
      await whileBroken(lab, { fault: "cluster-down", cluster: lab.target }, async () => {
        await lab.until(`package manager reports ${lab.target} as unreachable`, isOutOfReach(lab));
        await lab.until(`package manager no longer reports ${lab.target} as healthy`, targetHealth(lab, false));
        await lab.until("class runs in the other clusters", runsIn(lab, lab.others));
      });
      await lab.until(`${lab.target} is healthy again`, targetHealth(lab, true));
      await lab.until("class runs in every cluster again", runsIn(lab, lab.everywhere));
    },
  },
  {
    name: "crm-killed",
    brief: "The class runtime manager of a cluster is killed and restarted",
    sees: [
      "the package manager reports the cluster as unreachable",
      "the class keeps running in the cluster",
      "a class deleted meanwhile is removed once the manager is back",
    ],
    play: async (lab) => {
      await deployProbe(lab);
      await whileBroken(lab, { fault: "crm-killed", cluster: lab.target }, async () => {
        await lab.until(`package manager reports ${lab.target} as unreachable`, isOutOfReach(lab));
        await lab.until(`class keeps running in ${lab.target}`, livesOnInTarget(lab));
        await deleteMeanwhile(lab);
      });
      await lab.until(`class is removed from ${lab.target}`, isGoneFrom(lab, [lab.target]));
    },
  },
  {
    name: "partition",
    brief: "The network between the package manager and a cluster is interrupted",
    sees: [
      "the package manager times out and reports the cluster as unreachable",
      "the class keeps running in the cluster",
      "a class deleted meanwhile is removed once the network is back",
    ],
    play: async (lab) => {
      await deployProbe(lab);
      await whileBroken(lab, { fault: "partition", cluster: lab.target }, async () => {
        await lab.until(`package manager reports ${lab.target} as unreachable`, isOutOfReach(lab));
        await lab.until(`class keeps running in ${lab.target}`, livesOnInTarget(lab));
        await lab.until("class runs in the other clusters", runsIn(lab, lab.others));
        await deleteMeanwhile(lab);
      });
      await lab.until(`class is removed from ${lab.target}`, isGoneFrom(lab, [lab.target]));
    },
  },
  {
    name: "pm-killed",
    brief: "The package manager is killed during a deployment and restarted",
    sees: [
      "requests fail while it is down; running classes keep running",
      "after the restart it resumes the deployment: the class runs in every cluster",
      "the class is deployed exactly once per cluster",
    ],
    play: async (lab) => {
      await registerProbe(lab);
      lab.doing(`deploy class Probe to ${lab.everywhere.join(", ")}`);
      let refusal: string | undefined;
      const sent = lab.call("createDeployment", { body: wish(lab.everywhere) }).then(
        () => undefined,
        (thrown: unknown) => void (refusal = Fault.from(thrown).message),
      );
      await lab.until("package manager has stored the deployment", async () =>
        (await orNothing(lab.call("getDeployment", { parameters: { key: PROBE } })))
          ? undefined
          : (refusal ?? "not stored yet"),
      );
      // Other classes may still be progressing; compare only those that are available.
      const isSettled = (one: { readonly name: string; readonly phase: string }): boolean =>
        !isProbe(one) && one.phase === "available";
      const before = (await lab.health()).clusters.flatMap(({ classes }) => classes).filter(isSettled);
      await whileBroken(lab, { fault: "pm-killed" }, async () => {
        await sent;
        await lab.until("package manager does not respond", () =>
          lab.call("getHealth").then(
            () => "it responds",
            (thrown: unknown) => (isFault(thrown, "unavailable") ? undefined : String(thrown)),
          ),
        );
        await lab.until("other classes keep running", async () => {
          const there = (await lab.health()).clusters.flatMap(({ classes }) => classes);
          const lost = before.filter(({ name, phase }) => there.find((one) => one.name === name)?.phase !== phase);
          return lost.length === 0 ? undefined : `${lost.map(({ name }) => name).join(", ")} changed`;
        });
      });
      await lab.until("class runs in every cluster", runsIn(lab, lab.everywhere));
      await lab.until("class is deployed once per cluster", async () => {
        const { clusters } = await lab.health();
        const counts = clusters.map(({ name, classes }) => `${name} has ${classes.filter(isProbe).length}`);
        return counts.every((text) => text.endsWith(" 1")) ? undefined : counts.join(", ");
      });
    },
  },
  {
    name: "image-broken",
    brief: "An update references an image that does not exist",
    sees: [
      "the class is not ready, and explain names the image as the cause",
      "the verdict is permanent: waiting does not help",
      "a rollback to the previous revision fixes it",
    ],
    play: async (lab) => {
      await deployProbe(lab);
      lab.doing(`update the image to ${MISSING_IMAGE}`);
      await lab.call("putDeployment", { parameters: { key: PROBE }, body: wish(lab.everywhere, MISSING_IMAGE) });
      await lab.until("explain reports a permanent failure and names the image", async () => {
        const { value } = await lab.call("explainDeployment", { parameters: { key: PROBE } });
        if (value.verdict !== "permanent") return `the verdict is ${value.verdict}`;
        return JSON.stringify(value).includes(MISSING_IMAGE) ? undefined : value.summary;
      });
      lab.doing("roll back to revision 1");
      await lab.call("rollBackDeployment", {
        parameters: { key: PROBE },
        body: { revision: 1, reason: "fault injection lab" },
      });
      await lab.until("class runs in every cluster again", runsIn(lab, lab.everywhere));
    },
  },
  {
    name: "node-lost",
    brief: "A node of a cluster stops responding and recovers",
    sees: [
      "the cluster reports one ready node less",
      "the class keeps running in the other clusters",
      "after the node recovers, the class runs everywhere again",
    ],
    play: async (lab) => {
      await deployProbe(lab);
      const nodes = (await lab.health()).clusters.find(({ name }) => name === lab.target)?.nodes ?? 0;
      let all = 0;
      await lab.until(`${lab.target} reports its nodes`, async () => {
        all = await readyNodes(lab);
        return all > 0 && all >= nodes ? undefined : `${all} nodes are ready`;
      });
      await whileBroken(lab, { fault: "node-lost", cluster: lab.target }, async () => {
        await lab.until(`${lab.target} reports ${all - 1} of ${all} nodes ready`, hasReady(lab, all - 1));
        await lab.until("class runs in the other clusters", runsIn(lab, lab.others));
      });
      await lab.until(`${lab.target} reports ${all} nodes ready`, hasReady(lab, all));
      await lab.until("class runs in every cluster", runsIn(lab, lab.everywhere));
    },
  },
];

async function whileBroken(lab: Lab, fault: StackFault, look: () => Promise<void>): Promise<void> {
  const where = fault.cluster === undefined ? "" : ` in ${fault.cluster}`;
  lab.doing(`inject fault ${fault.fault}${where}`);
  await lab.break(fault);
  await look();
  lab.doing("remove the fault");
  await lab.mend(fault);
}

/** Deletes the class while its target is unreachable. */
async function deleteMeanwhile(lab: Lab): Promise<void> {
  lab.doing(`delete the class while ${lab.target} is unreachable`);
  await lab.call("deleteDeployment", { parameters: { key: PROBE } });
  await lab.until("class is removed from the other clusters", isGoneFrom(lab, lab.others));
}

function isGoneFrom(lab: Lab, names: readonly string[]) {
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

function hasReady(lab: Lab, wanted: number) {
  return async (): Promise<string | undefined> => {
    const ready = await readyNodes(lab);
    return ready === wanted ? undefined : `${ready} nodes are ready`;
  };
}
