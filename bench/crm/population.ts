import { setTimeout as sleep } from "node:timers/promises";
import type { ClassRuntime } from "@oaas/contracts/crd";
import { isFault } from "@oaas/foundation";
import { keyOf, type KubeObject } from "@oaas/kube-core";
import { eventually } from "@oaas/testkit";
import {
  CLASS_RUNTIMES,
  CORE_CHILD_KINDS,
} from "../../apps/class-runtime-manager/src/controller/kinds/resource-types.ts";
import { FIELD_MANAGER } from "../../apps/class-runtime-manager/src/controller/children/ownership.ts";
import { childrenOf, deployedClassOf, idsOf, unitOf } from "./classes.ts";
import { atOnce, type CrmLab } from "./lab.ts";
import type { MeasuredManager } from "./measured-manager.ts";

const PATIENCE_MS = 3_600_000;
const WRITERS = 32;
const AGAIN_MS = 10;

/** Classes per namespace. */
export const PER_NAMESPACE = 250;

/** Namespace and name of a class. */
export interface Placed {
  readonly id: string;
  readonly namespace: string;
}

/** Creates classes through the manager and waits until all are accepted. */
export async function populate(lab: CrmLab, manager: MeasuredManager, count: number): Promise<readonly Placed[]> {
  const placed = await places(lab, count);
  await atOnce(placed, WRITERS, (one) => deploy(manager, one));
  return placed;
}

/**
 * Creates classes with all their children and ready Deployments on the server, so that a manager writes only status.
 * Faster than using a manager, because new objects are posted.
 */
export async function populateWithChildren(lab: CrmLab, count: number): Promise<void> {
  const options = { fieldManager: FIELD_MANAGER };
  const deployments = lab.client.resource(mustFind("Deployment"));
  await atOnce(await places(lab, count), WRITERS, async ({ id, namespace }) => {
    const owner = await lab.client.resource(mustFind("ClassRuntime")).create(deployedClassOf(id, namespace), options);
    for (const child of childrenOf(id, namespace, owner.metadata.uid)) {
      await lab.client.resource(mustFind(child.kind)).create(child, options);
      if (child.kind === "Deployment")
        await deployments.patch(keyOf(child), "merge", { status: READY }, { subresource: "status" });
    }
  });
}

async function places(lab: CrmLab, count: number): Promise<readonly Placed[]> {
  const placed = idsOf(count).map((id, index) => ({ id, namespace: `team-${Math.floor(index / PER_NAMESPACE)}` }));
  for (const namespace of new Set(placed.map((one) => one.namespace))) await lab.makeNamespace(namespace);
  return placed;
}

/** Requests a class until a leader accepts it. */
export async function deploy(manager: MeasuredManager, { id, namespace }: Placed): Promise<void> {
  for (const start = performance.now(); ;) {
    try {
      await manager.deployments.deploy({ deploymentUnit: unitOf(id), namespace }, { deadlineMs: PATIENCE_MS });
      return;
    } catch (thrown) {
      if (!isFault(thrown, "unavailable") || performance.now() - start > PATIENCE_MS) throw thrown;
      await sleep(AGAIN_MS);
    }
  }
}

/** Waits until the classes are available. */
export async function untilAvailable(lab: CrmLab, count: number): Promise<void> {
  await eventually(
    async () => {
      const classes = (await allOf(lab, "ClassRuntime")) as (ClassRuntime & KubeObject)[];
      const available = classes.filter(({ status }) => status?.phase === "available").length;
      if (available < count) throw new Error(`${available} of ${count} are available`);
    },
    { timeoutMs: PATIENCE_MS, what: "all classes to be available" },
  );
}

const READY = {
  observedGeneration: 1,
  replicas: 1,
  updatedReplicas: 1,
  readyReplicas: 1,
  availableReplicas: 1,
  conditions: [
    { type: "Available", status: "True", reason: "MinimumReplicasAvailable" },
    { type: "Progressing", status: "True", reason: "NewReplicaSetAvailable" },
  ],
};

async function allOf(lab: CrmLab, kind: string): Promise<readonly KubeObject[]> {
  const api = lab.client.resource(mustFind(kind));
  const found: KubeObject[] = [];
  for (let next: string | undefined = ""; next !== undefined;) {
    const page: Awaited<ReturnType<typeof api.list>> = await api.list({
      limit: 500,
      ...(next === "" ? {} : { continue: next }),
    });
    found.push(...page.items);
    next = page.continue;
  }
  return found;
}

function mustFind(kind: string): (typeof CORE_CHILD_KINDS)[number] {
  const found = [CLASS_RUNTIMES as (typeof CORE_CHILD_KINDS)[number], ...CORE_CHILD_KINDS].find(
    (one) => one.kind === kind,
  );
  if (!found) throw new Error(`no kind ${kind}`);
  return found;
}
