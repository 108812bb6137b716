import type { NodeShape } from "@oaas/models";
import { pluralize } from "../explanation/format.ts";
import {
  ownEntry,
  type CandidateCluster,
  type DeploymentPlan,
  type PlannedFunction,
  type PlannedUnit,
  type Reason,
  type SharedSpec,
} from "../plan-types.ts";
import { hasOwnPods, statedRequests, type ReplicaNeeds } from "../sizing/resource-requests.ts";

/** The replicas of a unit. */
interface UnitScales {
  readonly cluster: PlannedUnit["cluster"];
  readonly functions: readonly Pick<PlannedFunction, "functionKey" | "minScale">[];
}

/** Replicas of one function that a plan adds to a cluster. */
interface AddedReplicas extends ReplicaNeeds {
  readonly functionKey: string;
  readonly replicas: number;
}

/**
 * Why the replicas of a unit cannot fit into what the cluster reports as free; undefined if they may fit. Replicas that
 * run there already need no further room. Only what certainly does not fit is a problem: the free amounts of a shape
 * count together, as if pods could be cut.
 */
export function missingCapacity(
  unit: UnitScales,
  shared: Pick<SharedSpec, "functions">,
  previous: DeploymentPlan | undefined,
  { reading }: Pick<CandidateCluster, "reading">,
): Reason | undefined {
  const shapes = reading?.offer?.shapes;
  if (shapes === undefined) return undefined;
  const added = addedReplicas(unit, shared, previous);
  for (const one of added) {
    const room = roomFor(one, shapes);
    if (room < one.replicas)
      return noCapacity(
        `${one.replicas} more of ${one.functionKey} (${sizeText(one)} each)`,
        `at most ${room} fit`,
        freeIn(shapes, Object.keys(one.extended)),
        shapes,
      );
  }
  const total = sumOf(added);
  const free = freeIn(shapes, Object.keys(total.extended));
  if (!isWithin(total, free))
    return noCapacity(
      `${pluralize(total.replicas, "more replica")} (${sizeText(total)} together)`,
      "not all fit",
      free,
      shapes,
    );
  return undefined;
}

function addedReplicas(
  { cluster, functions }: UnitScales,
  shared: Pick<SharedSpec, "functions">,
  previous: DeploymentPlan | undefined,
): readonly AddedReplicas[] {
  const before = previous?.units.find((unit) => unit.cluster === cluster);
  return shared.functions.flatMap((spec) => {
    const scale = functions.find(({ functionKey }) => functionKey === spec.functionKey);
    if (scale === undefined || !hasOwnPods(spec)) return [];
    const running = before?.functions.find(({ functionKey }) => functionKey === spec.functionKey)?.minScale ?? 0;
    const replicas = scale.minScale - running;
    return replicas <= 0 ? [] : [{ functionKey: spec.functionKey, replicas, ...statedRequests(spec) }];
  });
}

function roomFor({ cpuMillicores, memoryBytes, extended }: ReplicaNeeds, shapes: readonly NodeShape[]): number {
  const times = (free: number, each: number): number =>
    each === 0 ? Number.POSITIVE_INFINITY : Math.floor(free / each);
  return shapes.reduce((room, shape) => {
    if (shape.largestFreeCpuMillicores < cpuMillicores || shape.largestFreeMemoryBytes < memoryBytes) return room;
    const needed = Object.entries(extended).map(([name, each]) => ({ each, ...extendedIn(shape, name) }));
    if (needed.some(({ each, largestFree }) => largestFree < each)) return room;
    const rooms = [times(shape.freeCpuMillicores, cpuMillicores), times(shape.freeMemoryBytes, memoryBytes)];
    return room + Math.min(shape.freePods, ...rooms, ...needed.map(({ each, free }) => times(free, each)));
  }, 0);
}

const NONE = { free: 0, largestFree: 0 };
const UNKNOWN = { free: Number.POSITIVE_INFINITY, largestFree: Number.POSITIVE_INFINITY };

/** What the nodes of a shape have left of an extended resource; without limit if that is not known. */
function extendedIn({ extended }: NodeShape, name: string): typeof NONE {
  return extended === undefined ? UNKNOWN : (ownEntry(extended, name) ?? NONE);
}

/** Amounts of several replicas or nodes. */
interface Amounts extends ReplicaNeeds {
  readonly replicas: number;
}

function sumOf(added: readonly AddedReplicas[]): Amounts {
  const names = new Set(added.flatMap(({ extended }) => Object.keys(extended)));
  const sum = (amount: (one: AddedReplicas) => number): number =>
    added.reduce((all, one) => all + amount(one) * one.replicas, 0);
  return {
    cpuMillicores: sum(({ cpuMillicores }) => cpuMillicores),
    memoryBytes: sum(({ memoryBytes }) => memoryBytes),
    replicas: sum(() => 1),
    extended: Object.fromEntries([...names].map((name) => [name, sum(({ extended }) => extended[name] ?? 0)])),
  };
}

/** What is free on all nodes together, with these extended resources. */
function freeIn(shapes: readonly NodeShape[], names: readonly string[]): Amounts {
  const sum = (amount: (shape: NodeShape) => number): number => shapes.reduce((all, shape) => all + amount(shape), 0);
  return {
    cpuMillicores: sum((shape) => shape.freeCpuMillicores),
    memoryBytes: sum((shape) => shape.freeMemoryBytes),
    replicas: sum((shape) => shape.freePods),
    extended: Object.fromEntries(names.map((name) => [name, sum((shape) => extendedIn(shape, name).free)])),
  };
}

function isWithin(needed: Amounts, free: Amounts): boolean {
  return (
    needed.cpuMillicores <= free.cpuMillicores &&
    needed.memoryBytes <= free.memoryBytes &&
    needed.replicas <= free.replicas &&
    Object.entries(needed.extended).every(([name, amount]) => amount <= (free.extended[name] ?? 0))
  );
}

function noCapacity(needed: string, but: string, free: Amounts, shapes: readonly NodeShape[]): Reason {
  const nodes = shapes.reduce((sum, shape) => sum + shape.nodes, 0);
  const requests = ["cpu_request", "memory_request", ...(Object.keys(free.extended).length > 0 ? ["resources"] : [])];
  return {
    code: "no-capacity",
    text:
      `it has no room for ${needed}: ${but} into ${sizeText(free)} and ${pluralize(free.replicas, "pod")} free on ` +
      `${pluralize(nodes, "node")}; add nodes, or lower ${requests.join(", ")} or min_scale`,
  };
}

function sizeText({ cpuMillicores, memoryBytes, extended }: ReplicaNeeds): string {
  const gib = Math.round((memoryBytes / 2 ** 30) * 100) / 100;
  const known = Object.entries(extended).filter(([, amount]) => Number.isFinite(amount));
  const more = known.map(([name, amount]) => `, ${amount} ${name}`);
  return `${cpuMillicores / 1000} CPU and ${gib} GiB${more.slice(0, MAX_NAMED).join("")}`;
}

/** Extended resources that a text names. */
const MAX_NAMED = 8;
