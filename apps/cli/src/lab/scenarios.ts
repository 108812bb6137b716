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

/** Something that goes wrong on purpose, with what should be seen and a check of each part of it. */
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
      "the package manager says which cluster it cannot reach, and why",
      "the class goes on in the other clusters",
      "when the cluster is back, all is as it was, without anybody's doing",
    ],
    play: async (lab) => {
      await deployProbe(lab);
      await whileBroken(lab, { fault: "cluster-down", cluster: lab.target }, async () => {
        await lab.until(`the package manager cannot reach ${lab.target} and says so`, isOutOfReach(lab));
        await lab.until(`${lab.target} is no longer called healthy`, targetHealth(lab, false));
        await lab.until("the class runs in the other clusters", runsIn(lab, lab.others));
      });
      await lab.until(`${lab.target} is healthy again`, targetHealth(lab, true));
      await lab.until("the class runs in every cluster again", runsIn(lab, lab.everywhere));
    },
  },
  {
    name: "crm-killed",
    brief: "The class runtime manager of a cluster dies and is started again",
    sees: [
      "the package manager says that it cannot reach that cluster",
      "what the manager made goes on running there",
      "a class that is deleted meanwhile goes as soon as the manager is back",
    ],
    play: async (lab) => {
      await deployProbe(lab);
      await whileBroken(lab, { fault: "crm-killed", cluster: lab.target }, async () => {
        await lab.until(`the package manager cannot reach ${lab.target} and says so`, isOutOfReach(lab));
        await lab.until(`the class goes on in ${lab.target}`, livesOnInTarget(lab));
        await deleteMeanwhile(lab);
      });
      await lab.until(`the class goes from ${lab.target} too`, isGoneFrom(lab, [lab.target]));
    },
  },
  {
    name: "partition",
    brief: "The network between the package manager and a cluster is cut",
    sees: [
      "the package manager gives up waiting, and says for which cluster",
      "inside that cluster everything goes on",
      "a class that is deleted meanwhile goes when the network is whole",
    ],
    play: async (lab) => {
      await deployProbe(lab);
      await whileBroken(lab, { fault: "partition", cluster: lab.target }, async () => {
        await lab.until(`the package manager cannot reach ${lab.target} and says so`, isOutOfReach(lab));
        await lab.until(`the class goes on in ${lab.target}`, livesOnInTarget(lab));
        await lab.until("the class runs in the other clusters", runsIn(lab, lab.others));
        await deleteMeanwhile(lab);
      });
      await lab.until(`the class goes from ${lab.target} too`, isGoneFrom(lab, [lab.target]));
    },
  },
  {
    name: "pm-killed",
    brief: "The package manager dies in the middle of a deployment and is started again",
    sees: [
      "while it is gone nobody is answered, and classes go on running",
      "it carries on where it was: the class comes to run in every cluster",
      "once in each, and never twice",
    ],
    play: async (lab) => {
      await registerProbe(lab);
      lab.doing(`deploys the class Probe to ${lab.everywhere.join(", ")}`);
      let refusal: string | undefined;
      const sent = lab.call("createDeployment", { body: wish(lab.everywhere) }).then(
        () => undefined,
        (thrown: unknown) => void (refusal = Fault.from(thrown).message),
      );
      await lab.until("the wish is kept", async () =>
        (await orNothing(lab.call("getDeployment", { parameters: { key: PROBE } })))
          ? undefined
          : (refusal ?? "it is not there yet"),
      );
      // One that was on its way to something else may well arrive meanwhile.
      const isSettled = (one: { readonly name: string; readonly phase: string }): boolean =>
        !isProbe(one) && one.phase === "available";
      const before = (await lab.health()).clusters.flatMap(({ classes }) => classes).filter(isSettled);
      await whileBroken(lab, { fault: "pm-killed" }, async () => {
        await sent;
        await lab.until("the package manager does not answer", () =>
          lab.call("getHealth").then(
            () => "it answers",
            (thrown: unknown) => (isFault(thrown, "unavailable") ? undefined : String(thrown)),
          ),
        );
        await lab.until("the other classes go on running", async () => {
          const there = (await lab.health()).clusters.flatMap(({ classes }) => classes);
          const lost = before.filter(({ name, phase }) => there.find((one) => one.name === name)?.phase !== phase);
          return lost.length === 0 ? undefined : `${lost.map(({ name }) => name).join(", ")} changed`;
        });
      });
      await lab.until("the class runs in every cluster", runsIn(lab, lab.everywhere));
      await lab.until("once in each", async () => {
        const { clusters } = await lab.health();
        const counts = clusters.map(({ name, classes }) => `${name} has ${classes.filter(isProbe).length}`);
        return counts.every((text) => text.endsWith(" 1")) ? undefined : counts.join(", ");
      });
    },
  },
  {
    name: "image-broken",
    brief: "An update names an image that no registry has",
    sees: [
      "the class is not ready, and the reason is told down to the image",
      "the verdict is permanent: waiting does not help",
      "going back to the last revision mends it",
    ],
    play: async (lab) => {
      await deployProbe(lab);
      lab.doing(`updates it to ${MISSING_IMAGE}`);
      await lab.call("putDeployment", { parameters: { key: PROBE }, body: wish(lab.everywhere, MISSING_IMAGE) });
      await lab.until("explain says permanent, and names the image", async () => {
        const { value } = await lab.call("explainDeployment", { parameters: { key: PROBE } });
        if (value.verdict !== "permanent") return `the verdict is ${value.verdict}`;
        return JSON.stringify(value).includes(MISSING_IMAGE) ? undefined : value.summary;
      });
      lab.doing("goes back to the first revision");
      await lab.call("rollBackDeployment", {
        parameters: { key: PROBE },
        body: { revision: 1, reason: "the failure lab" },
      });
      await lab.until("the class runs in every cluster again", runsIn(lab, lab.everywhere));
    },
  },
  {
    name: "node-lost",
    brief: "A node of a cluster falls silent and comes back",
    sees: [
      "the cluster reports one ready node less",
      "the class goes on in the other clusters",
      "when the node is back, all is as it was",
    ],
    play: async (lab) => {
      await deployProbe(lab);
      const nodes = (await lab.health()).clusters.find(({ name }) => name === lab.target)?.nodes ?? 0;
      let all = 0;
      await lab.until(`${lab.target} reports its nodes`, async () => {
        all = await readyNodes(lab);
        return all > 0 && all >= nodes ? undefined : `${all} are ready`;
      });
      await whileBroken(lab, { fault: "node-lost", cluster: lab.target }, async () => {
        await lab.until(`${lab.target} reports ${all - 1} of ${all} nodes ready`, hasReady(lab, all - 1));
        await lab.until("the class runs in the other clusters", runsIn(lab, lab.others));
      });
      await lab.until(`${lab.target} reports ${all} nodes ready`, hasReady(lab, all));
      await lab.until("the class runs in every cluster", runsIn(lab, lab.everywhere));
    },
  },
];

async function whileBroken(lab: Lab, fault: StackFault, look: () => Promise<void>): Promise<void> {
  const where = fault.cluster === undefined ? "" : ` in ${fault.cluster}`;
  lab.doing(`breaks it: ${fault.fault}${where}`);
  await lab.break(fault);
  await look();
  lab.doing("mends it");
  await lab.mend(fault);
}

/** Deletes the class while its target cannot be told. */
async function deleteMeanwhile(lab: Lab): Promise<void> {
  lab.doing(`deletes the class while ${lab.target} cannot be told`);
  await lab.call("deleteDeployment", { parameters: { key: PROBE } });
  await lab.until("it goes from the other clusters", isGoneFrom(lab, lab.others));
}

function isGoneFrom(lab: Lab, names: readonly string[]) {
  return async (): Promise<string | undefined> => {
    const { clusters } = await lab.health();
    const left = clusters.filter(({ name, classes }) => names.includes(name) && classes.some(isProbe));
    return left.length === 0 ? undefined : `it is still in ${left.map(({ name }) => name).join(", ")}`;
  };
}

async function readyNodes(lab: Lab): Promise<number> {
  const { value } = await lab.call("listClusters");
  return value.find(({ name }) => name === lab.target)?.health.ready_nodes ?? 0;
}

function hasReady(lab: Lab, wanted: number) {
  return async (): Promise<string | undefined> => {
    const ready = await readyNodes(lab);
    return ready === wanted ? undefined : `${ready} are ready`;
  };
}
