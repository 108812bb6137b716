import { canonicalJson } from "@oaas/foundation";
import { ClusterStatus, ShardType, type ClassDeployment, type ClusterName } from "@oaas/models";
import { sweepSize } from "@oaas/testkit";
import fc from "fast-check";
import { expect, test } from "vitest";
import { comparePlans } from "./explanation/compare-plans.ts";
import { networkOf } from "./placement/networks.ts";
import { planDeployment } from "./plan.ts";
import type { CandidateCluster, DeploymentPlan, LowerTarget, PlanInput, Remedy } from "./plan-types.ts";
import { sizeReplicas } from "./sizing/replicas.ts";
import {
  clusterName,
  clusterOf,
  functionKey,
  functionOf,
  inputOf,
  stateOf,
  STRONG_STATE,
} from "./testing/plan-inputs.ts";
import { planContent } from "./plan-units.ts";

const share = fc.oneof(fc.double({ min: 0, max: 1, noNaN: true }), fc.constantFrom(0, 0.5, 0.9, 0.95, 0.99, 0.999, 1));

const cluster = fc
  .record({
    name: fc.constantFrom("a", "b", "c", "d", "e", "constructor", "f-1", "G.2"),
    availability: fc.option(share, { nil: undefined }),
    env: fc.constantFrom("edge", "cloud", undefined),
    breaker: fc.constantFrom("closed" as const, "closed" as const, "half-open" as const, "open" as const),
    status: fc.constantFrom(...Object.values(ClusterStatus)),
    readingAgeMs: fc.constantFrom(0, 1000, 10_000_000),
    network: fc.constantFrom("main", "main", "main", "other", undefined),
  })
  .map(({ name, availability, env, breaker, status, readingAgeMs, network }): CandidateCluster => {
    const known = clusterOf(name, availability ?? 0, {
      labels: env === undefined ? {} : { env },
      breaker,
      readingAgeMs,
    });
    const { reading: _reading, ...unread } = known;
    return availability === undefined
      ? unread
      : {
          ...known,
          reading: {
            cluster: clusterName(name),
            status,
            availability,
            ...(network === undefined ? {} : { dataPlaneNetwork: network }),
          },
        };
  });

const input = fc
  .record({
    clusters: fc.uniqueArray(cluster, { maxLength: 8, selector: ({ name }) => name }),
    target: fc.option(share, { nil: undefined }),
    state: fc.constantFrom(undefined, stateOf(), STRONG_STATE),
    kind: fc.constantFrom(undefined, undefined, "edge"),
    named: fc.boolean(),
    allowBestEffort: fc.boolean(),
    maxReplicas: fc.integer({ min: 1, max: 9 }),
    algorithm: fc.constantFrom("quorum" as const, "quorum" as const, "independent" as const, "domains" as const),
    replicaCount: fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined }),
    rps: fc.option(fc.integer({ min: 1, max: 12_000 }), { nil: undefined }),
  })
  .map((drawn): PlanInput => {
    const targets = drawn.named ? drawn.clusters.slice(0, 3).map(({ name }) => name) : [];
    return inputOf({
      clusters: drawn.clusters,
      definition: drawn.state === undefined ? {} : { stateSpec: drawn.state },
      settings: { maxReplicas: drawn.maxReplicas, algorithm: drawn.algorithm },
      deployment: {
        targetClusters: targets,
        allowBestEffort: drawn.allowBestEffort,
        nfr: {
          ...(drawn.target === undefined ? {} : { availability: drawn.target }),
          ...(drawn.rps === undefined ? {} : { minThroughputRps: drawn.rps }),
        },
        ...(drawn.kind === undefined ? {} : { environmentKind: drawn.kind }),
        ...(drawn.replicaCount === undefined
          ? {}
          : { odgm: { collections: [], nodeIds: {}, replicaCount: drawn.replicaCount } }),
      },
    });
  });

const RUNS = { numRuns: sweepSize(300, 5000) };

/** Replicas that fail together. */
interface Group {
  readonly availability: number;
  readonly replicas: number;
}

/** The probability that enough replicas are up, by enumerating all combinations of groups that are up. */
function enumerated(groups: readonly Group[], needed: number): number {
  let sum = 0;
  for (let combination = 0; combination < 2 ** groups.length; combination += 1) {
    const isUp = (index: number): boolean => ((combination >> index) & 1) === 1;
    const up = groups.reduce((count, { replicas }, index) => count + (isUp(index) ? replicas : 0), 0);
    if (up < needed) continue;
    sum += groups.reduce((product, { availability: p }, index) => product * (isUp(index) ? p : 1 - p), 1);
  }
  return sum;
}

/** The worst replicas of a plan, derived from its units only; by failure domains, those of one cluster are a group. */
function worstReplicas(plan: DeploymentPlan): readonly Group[] {
  const availability = new Map(plan.clusters.map((verdict) => [verdict.cluster, verdict.availability ?? 0]));
  const nodes = Object.entries(plan.odgm?.nodeIds ?? {}).flatMap(([name, ids]) =>
    ids.map(() => ({ name, availability: availability.get(name as ClusterName) ?? 0, replicas: 1 })),
  );
  const worst = nodes
    .sort((a, b) => a.availability - b.availability || (a.name < b.name ? -1 : 1))
    .slice(0, plan.replicas);
  if (plan.sizing.algorithm !== "domains") return worst;
  const names = [...new Set(worst.map(({ name }) => name))];
  return names.map((name) => ({
    availability: availability.get(name as ClusterName) ?? 0,
    replicas: worst.filter((node) => node.name === name).length,
  }));
}

test("a plan of a class with state meets its target by enumeration, or is marked best effort", () => {
  fc.assert(
    fc.property(input, (given) => {
      const result = planDeployment(given);
      if (!result.ok || result.value.odgm === undefined) return;
      const plan = result.value;
      const needed = plan.sizing.algorithm === "independent" ? 1 : Math.floor(plan.replicas / 2) + 1;
      const reached = enumerated(worstReplicas(plan), needed);
      expect(plan.achievedAvailability).toBeCloseTo(reached, 10);
      if (!plan.bestEffort) expect(reached + 1e-9).toBeGreaterThanOrEqual(Math.min(plan.sizing.target, 0.999_999_999));
      if (plan.sizing.strong) expect(plan.replicas % 2).toBe(1);
      expect(plan.replicas).toBeLessThanOrEqual(given.settings.maxReplicas);
      expect(given.deployment.allowBestEffort || !plan.bestEffort).toBe(true);
    }),
    RUNS,
  );
});

test("any input gives a plan or a refusal with a message, with one verdict per cluster", () => {
  fc.assert(
    fc.property(input, (given) => {
      const result = planDeployment(given);
      const { clusters } = result.ok ? result.value : result.error;
      expect(clusters.map(({ cluster: name }) => name)).toEqual(given.clusters.map(({ name }) => name).sort());
      if (!result.ok) expect(result.error.message).not.toBe("");
      else {
        const chosen = clusters.filter((verdict) => verdict.chosen).map(({ cluster: name }) => name);
        expect(result.value.units.map((unit) => unit.cluster)).toEqual(chosen);
        expect(chosen.length).toBeGreaterThan(0);
      }
    }),
    RUNS,
  );
});

test("the order of clusters does not change the plan", () => {
  fc.assert(
    fc.property(input, fc.infiniteStream(fc.nat()), (given, dice) => {
      const order = given.clusters.map((one) => ({ one, at: dice.next().value ?? 0 }));
      const shuffled = order.sort((a, b) => a.at - b.at).map(({ one }) => one);
      expect(planDeployment({ ...given, clusters: shuffled })).toEqual(planDeployment(given));
    }),
    RUNS,
  );
});

test("digests are equal exactly when the plans have the same content", () => {
  fc.assert(
    fc.property(input, input, fc.boolean(), (given, other, isSameDeployment) => {
      const one = planDeployment(given);
      const another = planDeployment(isSameDeployment ? { ...given, clusters: other.clusters } : other);
      if (!one.ok || !another.ok) return;
      const sameContent = canonicalJson(planContent(one.value)) === canonicalJson(planContent(another.value));
      expect(one.value.digest === another.value.digest).toBe(sameContent);
      expect(comparePlans(one.value, another.value).length === 0).toBe(sameContent);
    }),
    RUNS,
  );
});

test("an additional cluster keeps reachable targets reachable, unless it is named", () => {
  fc.assert(
    fc.property(input, share, (given, availability) => {
      const before = planDeployment(given);
      if (!before.ok || given.deployment.targetClusters.length > 0) return;
      const joined = clusterOf("z", availability, { labels: { env: "edge" } });
      const after = planDeployment({ ...given, clusters: [...given.clusters, joined] });
      // Except a target that connected clusters would reach when they fail as a whole: connecting them is better.
      const kinds = !after.ok && "remedies" in after.error ? after.error.remedies.map(({ kind }) => kind) : [];
      expect(after.ok || kinds.includes("connect-clusters")).toBe(true);
    }),
    RUNS,
  );
});

/** The deployment with lower targets. */
function withTargets(deployment: ClassDeployment, targets: readonly LowerTarget[]): ClassDeployment {
  const of = new Map(targets.map(({ subject, availability }) => [subject, availability]));
  const ofClass = of.get("class");
  return {
    ...deployment,
    nfr: { ...deployment.nfr, ...(ofClass === undefined ? {} : { availability: ofClass }) },
    functions: deployment.functions.map((each) => {
      const own = of.get(each.functionKey);
      return own === undefined ? each : { ...each, nfr: { ...each.nfr, availability: own } };
    }),
  };
}

/** The same cluster in another data plane network. */
function inNetwork(one: CandidateCluster, dataPlaneNetwork: string): CandidateCluster {
  return one.reading === undefined ? one : { ...one, reading: { ...one.reading, dataPlaneNetwork } };
}

/** The input with a remedy applied. */
function applyRemedy(given: PlanInput, remedy: Remedy): PlanInput {
  const { deployment, settings, clusters } = given;
  switch (remedy.kind) {
    case "lower-target":
      return { ...given, deployment: withTargets(deployment, remedy.targets) };
    case "raise-cap":
      return { ...given, settings: { ...settings, maxReplicas: remedy.maxReplicas } };
    case "add-cluster": {
      const more = clusterOf("z", remedy.availability, { labels: { env: "edge" } });
      const named = deployment.targetClusters.length > 0 ? [...deployment.targetClusters, more.name] : [];
      const all = [...clusters, more].map((one) => inNetwork(one, "joined"));
      return { ...given, clusters: all, deployment: { ...deployment, targetClusters: named } };
    }
    case "restore-cluster":
      return {
        ...given,
        clusters: clusters.map((one) =>
          one.name === remedy.cluster && one.reading !== undefined
            ? { ...one, breaker: "closed", readingAgeMs: 0, reading: { ...one.reading, status: ClusterStatus.healthy } }
            : one,
        ),
      };
    case "leave-out": {
      const targetClusters = deployment.targetClusters.filter((name) => !remedy.clusters.includes(name));
      return { ...given, deployment: { ...deployment, targetClusters } };
    }
    case "connect-clusters":
      return { ...given, clusters: clusters.map((one) => inNetwork(one, "joined")) };
    case "lower-replica-count": {
      const odgm = { collections: [], nodeIds: {}, replicaCount: remedy.replicaCount };
      return { ...given, deployment: { ...deployment, odgm } };
    }
    case "allow-best-effort":
      return { ...given, deployment: { ...deployment, allowBestEffort: true } };
  }
}

test("every suggested remedy is sufficient", () => {
  fc.assert(
    fc.property(input, fc.constantFrom(undefined, 0.99, 0.995, 0.9999), (drawn, ofFunction) => {
      const functions =
        ofFunction === undefined
          ? []
          : [{ functionKey: functionKey("Order.place"), nfr: { availability: ofFunction }, config: {} }];
      const given = {
        ...drawn,
        deployment: { ...drawn.deployment, nfr: { availability: 0.995 }, functions, allowBestEffort: false },
      };
      const result = planDeployment(given);
      if (result.ok || result.error.kind !== "out-of-reach") return;
      const { best, remedies } = result.error;
      if (best !== undefined) expect(best.availability).toBeLessThan(result.error.target);
      for (const remedy of remedies) {
        const then = planDeployment(applyRemedy(given, remedy));
        expect(then.ok ? "" : `${remedy.text}: ${then.error.message}`).toBe("");
      }
    }),
    { numRuns: sweepSize(400, 5000) },
  );
});

test("the inputs of the replica decision give the planned replicas, and its suggestion for fewer is correct", () => {
  fc.assert(
    fc.property(input, (given) => {
      const result = planDeployment(given);
      if (!result.ok) return;
      const { sizing, replicas, decisions } = result.value;
      // By failure domains the count follows from the search over placements, not from the availabilities alone.
      if (sizing.algorithm === "domains") return;
      const decision = decisions.find(({ rule }) => rule.startsWith("replicas: "));
      const { availabilities, cap } = (decision?.inputs ?? {}) as { availabilities: number[]; cap: number };
      const demands = [{ subject: "", ...sizing }];
      const rules = { demands, maxReplicas: cap, algorithm: sizing.algorithm, canExclude: false };
      expect(sizeReplicas(availabilities, rules).sizes[0]?.replicas).toBe(replicas);

      const suggestion = /^a target of at most (\S+), which (\d+) replicas? would meet$/.exec(
        decision?.wouldChange ?? "",
      );
      if (suggestion === null) return;
      const then = planDeployment({ ...given, whatIf: { availability: Number(suggestion[1]) } });
      expect(then.ok && then.value.replicas).toBe(Number(suggestion[2]));
      expect(Number(suggestion[2])).toBeLessThan(replicas);
    }),
    RUNS,
  );
});

test("a running class keeps its layout, and each shard its id while its node remains", () => {
  fc.assert(
    fc.property(input, input, (first, later) => {
      const before = planDeployment(first);
      fc.pre(before.ok && before.value.odgm !== undefined);
      const { package: from, deployment } = first;
      const changed = { ...later, package: from, deployment: { ...later.deployment, key: deployment.key } };
      const after = planDeployment({ ...changed, previous: before.value });
      fc.pre(after.ok);
      const [old, now] = [before.value.odgm, after.value.odgm];
      expect(now).toMatchObject({ collections: old?.collections, partitionCount: old?.partitionCount });
      const members = new Set(Object.values(now?.nodeIds ?? {}).flat());
      const ids = Object.values(now?.assignments ?? {}).flatMap((all) => all.flatMap(({ shardIds }) => shardIds));
      expect(new Set(ids).size).toBe(ids.length);
      for (const [name, partitions] of Object.entries(old?.assignments ?? {})) {
        for (const [index, { replica, shardIds }] of partitions.entries()) {
          const shards = replica
            .map((node, at) => ({ node, id: shardIds[at] }))
            .filter(({ node }) => members.has(node));
          const next = now?.assignments[name]?.[index];
          const kept = shards.slice(0, now?.replicaCount);
          expect(next?.replica.slice(0, kept.length)).toEqual(kept.map(({ node }) => node));
          expect(next?.shardIds.slice(0, kept.length)).toEqual(kept.map(({ id }) => id));
        }
      }
    }),
    { numRuns: sweepSize(300, 20_000) },
  );
});

/** The data plane networks of the nodes of a plan. */
function networksOf({ odgm }: DeploymentPlan, { clusters }: PlanInput): ReadonlySet<string> {
  const of = new Map(clusters.map((one) => [one.name, networkOf(one)]));
  return new Set(Object.keys(odgm?.nodeIds ?? {}).map((name) => of.get(name as ClusterName) ?? name));
}

test("copies of a new class are in one data plane network, and one copy is on one node", () => {
  fc.assert(
    fc.property(input, (given) => {
      const result = planDeployment(given);
      if (!result.ok || result.value.odgm === undefined) return;
      const { odgm, units } = result.value;
      expect(networksOf(result.value, given).size).toBe(1);
      expect(units.map(({ cluster: name }) => name)).toEqual(Object.keys(odgm.nodeIds).sort());
      const members = Object.values(odgm.nodeIds).flat();
      if (odgm.replicaCount === 1) expect(members).toHaveLength(1);
      for (const { primary, replica } of Object.values(odgm.assignments).flat()) {
        expect(primary).toBe(replica[0]);
        expect(members).toEqual(expect.arrayContaining([...replica]));
      }
    }),
    RUNS,
  );
});

/** The same clusters with other readings, of which some are missing. */
function withReadings(
  clusters: readonly CandidateCluster[],
  readings: readonly CandidateCluster[],
): CandidateCluster[] {
  return clusters.map((one, index) => {
    const other = readings[index % Math.max(1, readings.length)];
    if (other === undefined) return one;
    const { reading: _, ...rest } = { ...one, breaker: other.breaker };
    return other.reading === undefined ? rest : { ...rest, reading: { ...other.reading, cluster: one.name } };
  });
}

test("an update without statements about the layout is accepted and keeps every member at any readings", () => {
  let kept = 0;
  fc.assert(
    fc.property(input, fc.array(cluster, { maxLength: 8 }), fc.boolean(), (first, readings, isAllowed) => {
      const before = planDeployment(first);
      fc.pre(before.ok && before.value.odgm !== undefined);
      const { deployment: running } = first;
      const odgm = { collections: [], nodeIds: {}, ...running.odgm, ...(isAllowed ? { allowLayoutChange: true } : {}) };
      const after = planDeployment({
        ...first,
        package: { ...first.package, functions: [functionOf("Order.place", { config: { A: "2" } })] },
        deployment: { ...running, ...(running.odgm === undefined && !isAllowed ? {} : { odgm }) },
        clusters: withReadings(first.clusters, readings),
        previous: before.value,
        running,
      });
      expect(after.ok ? "" : after.error.message).toBe("");
      if (!after.ok) return;
      const { allowLayoutChange: _, ...now } = after.value.odgm!;
      expect(now).toEqual(before.value.odgm);
      expect(after.value.stateLoss).toBeUndefined();
      kept += 1;
    }),
    RUNS,
  );
  expect(kept).toBeGreaterThan(0);
});

test("no accepted plan changes members without permission, except that merged copies grow", () => {
  let accepted = 0;
  fc.assert(
    fc.property(input, input, fc.constantFrom(undefined, ...Object.values(ShardType)), (first, later, shardType) => {
      const stated = (of: ClassDeployment) => ({
        ...of,
        ...(shardType === undefined ? {} : { odgm: { collections: [], nodeIds: {}, ...of.odgm, shardType } }),
      });
      const before = planDeployment({ ...first, deployment: stated(first.deployment) });
      fc.pre(before.ok && before.value.odgm !== undefined);
      const names = new Set(later.clusters.map(({ name }) => name));
      const clusters = [...later.clusters, ...first.clusters.filter(({ name }) => !names.has(name))];
      const given = { ...later, package: first.package, clusters, running: stated(first.deployment) };
      const after = planDeployment({ ...given, deployment: stated(later.deployment), previous: before.value });
      if (!after.ok || after.value.odgm === undefined) return;
      accepted += 1;
      const [old, now] = [before.value.odgm, after.value.odgm];
      expect(after.value.stateLoss).toBeUndefined();
      if (old.shardType !== ShardType.mst) {
        expect(now).toEqual(old);
        return;
      }
      expect(now).toMatchObject({ collections: old.collections, partitionCount: old.partitionCount });
      const members = Object.values(now.nodeIds).flat();
      expect(members).toEqual(expect.arrayContaining(Object.values(old.nodeIds).flat()));
      for (const [name, partitions] of Object.entries(old.assignments)) {
        for (const [index, { replica }] of partitions.entries()) {
          expect(now.assignments[name]?.[index]?.replica).toEqual(expect.arrayContaining([...replica]));
        }
      }
    }),
    RUNS,
  );
  expect(accepted).toBeGreaterThan(10);
});
