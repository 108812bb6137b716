import type { ClassRuntimeStatus } from "@oaas/contracts/crd";
import { classRuntime } from "@oaas/contracts/crd";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { nextConditions, markAvailable, markUnavailable } from "./status/conditions.ts";
import { evaluate } from "./evaluate.ts";
import type { Observation } from "./observation/observation.ts";
import { ownStatus } from "./status/field-ownership.ts";
import { problem } from "./observation/problem.ts";
import { REASONS, type Reason } from "./observation/reasons.ts";
import { refFrom, SimulatedCluster } from "./testing/simulated-cluster.ts";
import type { Pod, Workload } from "./observation/observed-objects.ts";

/** A class of two functions and a state store, with every component in any state. */
const observation: fc.Arbitrary<Observation> = fc
  .record({
    generation: fc.integer({ min: 1, max: 3 }),
    deleting: fc.boolean(),
    known: fc.boolean(),
    applied: fc.boolean(),
    problems: fc.uniqueArray(fc.constantFrom<Reason>("Conflict", "Forbidden", "TemplateMissing", "ApiUnavailable"), {
      maxLength: 2,
    }),
    first: fc.constantFrom("fresh", "ready", "moving", "overdue"),
    second: fc.constantFrom("fresh", "ready", "moving"),
    store: fc.constantFrom("none", "fresh", "ready"),
    healthy: fc.option(fc.boolean(), { nil: undefined }),
    pod: fc.constantFrom("none", "image", "crash", "unschedulable", "starting", "ready"),
    node: fc.constantFrom("none", "ready", "lost"),
    telemetry: fc.constantFrom("configured" as const, "no-endpoint" as const, undefined),
  })
  .map((choice) => {
    const world = new SimulatedCluster();
    world.generation = choice.generation;
    world.addFunction("A.one", refFrom("deployment/one"), "workload", 2);
    world.addFunction("A.two", refFrom("statefulset/two"), "workload");
    if (choice.store !== "none") {
      world.addFunction("A.three", undefined, "odgm");
      world.odgm = { workloads: [refFrom("deployment/store")], service: "store:80", replicas: 1, collections: [] };
    }
    if (choice.applied) world.applyAll();
    if (choice.applied) {
      world.change(refFrom("deployment/one"), as(choice.first, 2));
      world.change(refFrom("statefulset/two"), as(choice.second, 1));
      if (choice.store !== "none") world.change(refFrom("deployment/store"), as(choice.store, 1));
    }
    if (choice.pod !== "none") world.addPod("one-1", refFrom("deployment/one"), PODS[choice.pod], { node: "n1" });
    if (choice.node !== "none") {
      const condition = { type: "Ready", status: choice.node === "ready" ? "True" : "Unknown" };
      world.nodes.set("n1", {
        apiVersion: "v1",
        kind: "Node",
        metadata: { name: "n1" },
        status: { conditions: [condition] },
      });
    }
    if (choice.healthy !== undefined) world.reading = { healthy: choice.healthy, checkedAt: world.now };
    world.telemetry = choice.telemetry;
    world.problems = choice.problems.map((reason) => problem(reason, reason));
    if (!choice.known) world.template = undefined;
    world.deleting = choice.deleting && choice.generation === 3;
    return world.observation();
  });

const PODS: Readonly<Record<string, Pod["status"]>> = {
  image: { containerStatuses: [{ name: "f", state: { waiting: { reason: "ErrImagePull", message: "not found" } } }] },
  crash: { containerStatuses: [{ name: "f", restartCount: 5, state: { waiting: { reason: "CrashLoopBackOff" } } }] },
  unschedulable: {
    conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable", message: "no room" }],
  },
  starting: {},
  ready: { conditions: [{ type: "Ready", status: "True" }] },
};

function as(state: string, replicas: number): (object: Workload) => Workload {
  const counts = { observedGeneration: 1, replicas, updatedReplicas: replicas };
  return (object) => {
    switch (state) {
      case "ready":
        return { ...object, status: { ...counts, readyReplicas: replicas, availableReplicas: replicas } };
      case "moving":
        return { ...object, status: counts };
      case "overdue":
        return {
          ...object,
          status: {
            ...counts,
            conditions: [{ type: "Progressing", status: "False", reason: "ProgressDeadlineExceeded" }],
          },
        };
      default:
        return object;
    }
  };
}

/** Fields that must not depend on earlier observations. */
function timeless(status: ClassRuntimeStatus): object {
  const {
    last_updated: _,
    observedGeneration: _seen,
    functions,
    conditions = [],
    template: _template,
    resource_refs: refs,
    ...rest
  } = status;
  return {
    ...rest,
    // A deletion does not write status for each deleted child.
    refs: status.phase === "deleting" ? undefined : refs,
    conditions: conditions
      .filter(({ type }) => !type.startsWith("Nfr"))
      .map(({ lastTransitionTime: _since, ...condition }) => condition),
    functions: functions?.map(({ lastTransitionTime: _since, ...one }) => one),
  };
}

const SECOND = 1000;
const START = Date.parse("2026-01-01T00:00:00Z");

describe("any sequence of observations", () => {
  test("derives phase, conditions and reasons from the last observation only", () => {
    fc.assert(
      fc.property(fc.array(observation, { maxLength: 5 }), observation, (before, last) => {
        // Functions of the last rendered spec stay observed while a new spec cannot be rendered, so this depends on the
        // past.
        fc.pre(last.expected !== undefined || last.deleting);
        const history = before.reduce<ClassRuntimeStatus | undefined>(
          (status, one, index) => evaluate(status, one, START + index * SECOND).status,
          undefined,
        );
        const now = START + 10 * SECOND;
        expect(timeless(evaluate(history, last, now).status)).toEqual(timeless(evaluate(undefined, last, now).status));
      }),
      { numRuns: 300 },
    );
  });

  test("does not change when evaluated again", () => {
    fc.assert(
      fc.property(fc.array(observation, { minLength: 1, maxLength: 4 }), (all) => {
        let status: ClassRuntimeStatus | undefined;
        for (const [index, one] of all.entries()) {
          const step = evaluate(status, one, START + index * SECOND);
          const again = evaluate(step.status, one, START + index * SECOND + 500);
          expect(again.changed).toBe(false);
          expect(again.status).toBe(step.status);
          expect(again.events).toEqual([]);
          ({ status } = step);
        }
      }),
      { numRuns: 200 },
    );
  });

  test("changes times only with the values they date", () => {
    fc.assert(
      fc.property(fc.array(observation, { minLength: 1, maxLength: 6 }), (all) => {
        const changedAt = new Map<string, string>();
        let status: ClassRuntimeStatus | undefined;
        for (const [index, one] of all.entries()) {
          const now = new Date(START + index * SECOND).toISOString();
          const before = new Map((status?.conditions ?? []).map((condition) => [condition.type, condition.status]));
          const step = evaluate(status, one, START + index * SECOND);
          for (const { type, status: holds, lastTransitionTime } of step.status.conditions ?? []) {
            if (before.get(type) !== holds) changedAt.set(type, now);
            expect(lastTransitionTime).toBe(changedAt.get(type));
          }
          expect(step.status.last_updated).toBe(step.changed ? now : status?.last_updated);
          ({ status } = step);
        }
      }),
      { numRuns: 200 },
    );
  });

  test("produces a valid status with known reasons", () => {
    fc.assert(
      fc.property(observation, (one) => {
        const { status, events } = evaluate(undefined, one, START);
        const object = {
          apiVersion: "oaas.io/v1alpha1",
          kind: "ClassRuntime",
          metadata: { name: "order" },
          spec: { state_spec: {} },
          status,
        };
        expect(classRuntime.parse(object).status).toEqual(status);
        const reasons = [
          status.reason,
          ...(status.conditions ?? []).map(({ reason }) => reason),
          ...(status.functions ?? []).map(({ reason }) => reason),
        ];
        for (const reason of reasons) expect(reason === undefined || Object.hasOwn(REASONS, reason)).toBe(true);
        for (const { note } of events) expect(note).not.toBe("");
      }),
      { numRuns: 200 },
    );
  });
});

describe("fields of other writers", () => {
  const world = new SimulatedCluster();
  world.addFunction("A.one", refFrom("deployment/one"), "workload");
  world.applyAll();
  world.change(refFrom("deployment/one"), as("ready", 1));
  const look = (previous: ClassRuntimeStatus | undefined) => evaluate(previous, world.observation(), START).status;

  test("keeps recommendations, compliance and conditions of other writers", () => {
    const previous: ClassRuntimeStatus = {
      nfr_recommendations: [{ component: "A.one", dimension: "replicas", target: 3 }],
      nfr_compliance: { overall_status: "Compliant" },
      last_applied_at: "2026-01-01T00:00:00Z",
      conditions: [
        { type: "NfrEnforced", status: "True" },
        { type: "Strange", status: "Unknown" },
      ],
    };
    const status = look(previous);
    expect(status).toMatchObject({
      nfr_recommendations: [{ target: 3 }],
      nfr_compliance: { overall_status: "Compliant" },
    });
    expect(status.conditions?.map(({ type }) => type)).toEqual([
      "Available",
      "Progressing",
      "Degraded",
      "Ready",
      "NfrEnforced",
      "Strange",
    ]);
    const own = ownStatus(status);
    expect(own).not.toHaveProperty("nfr_recommendations");
    expect(own.conditions?.map(({ type }) => type)).toEqual(["Available", "Progressing", "Degraded", "Ready"]);
  });

  test("takes over the status of the Rust manager once", () => {
    const upstream: ClassRuntimeStatus = {
      phase: "progressing",
      observed_generation: 1,
      conditions: [
        { type: "Available", status: "True", reason: "Ready", lastTransitionTime: "2025-01-01T00:00:00Z" },
        { type: "TelemetryDegraded", status: "True", reason: "NoEndpoint" },
      ],
    };
    const status = look(upstream);
    expect(status).toMatchObject({ observedGeneration: 1, observed_generation: 1, phase: "available" });
    expect(status.conditions).toContainEqual(
      expect.objectContaining({ type: "Available", status: "True", lastTransitionTime: "2025-01-01T00:00:00Z" }),
    );
    expect(status.conditions).toContainEqual(expect.objectContaining({ type: "TelemetryDegraded", status: "False" }));
    expect(evaluate(status, world.observation(), START + SECOND).changed).toBe(false);
  });

  test("reports the routers that pods are configured to use", () => {
    const routers = [{ service: "router", port: 17_447 }];
    const { expected, ...observation } = world.observation();
    const step = evaluate(undefined, { ...observation, expected: { ...expected!, routers } }, START);
    expect(step.status.routers).toEqual(routers);
    expect(look(undefined)).not.toHaveProperty("routers");
  });

  test("ignores changes of volatile fields alone", () => {
    const grid = new SimulatedCluster();
    grid.odgm = {
      workloads: [refFrom("deployment/store")],
      service: "store:80",
      replicas: 1,
      collections: [{ name: "c" }],
    };
    grid.applyAll();
    grid.change(refFrom("deployment/store"), as("ready", 1));
    const reading = (objects: number, shards: number) => ({
      healthy: true,
      checkedAt: new Date(START + objects * SECOND).toISOString(),
      details: { collections_status: [{ name: "c", total_objects: objects, ready_shards: shards }] },
    });
    grid.reading = reading(1, 1);
    const { status } = evaluate(undefined, grid.observation(), START);
    grid.reading = reading(2, 1);
    expect(evaluate(status, grid.observation(), START).changed).toBe(false);
    grid.reading = reading(3, 2);
    expect(evaluate(status, grid.observation(), START).status.odgm_cluster_status).toMatchObject({
      last_checked: "2026-01-01T00:00:03.000Z",
      collections_status: [{ total_objects: 3, ready_shards: 2 }],
    });
  });
});

describe("conditions", () => {
  const at = (now: string) => ({ generation: 1, now });
  test("changes the transition time with the status only", () => {
    const first = nextConditions([], [markUnavailable("Starting", "a")], at("2026-01-01T00:00:00Z"));
    const second = nextConditions(first, [markUnavailable("CrashLoop", "b")], at("2026-01-01T00:00:01Z"));
    const third = nextConditions(second, [markAvailable("c")], at("2026-01-01T00:00:02Z"));
    expect([first, second, third].map(([one]) => [one?.reason, one?.lastTransitionTime])).toEqual([
      ["Starting", "2026-01-01T00:00:00Z"],
      ["CrashLoop", "2026-01-01T00:00:00Z"],
      ["Serving", "2026-01-01T00:00:02Z"],
    ]);
  });

  test("removes own conditions that are no longer claimed and keeps those of other writers", () => {
    const previous = [
      { type: "OdgmReady", status: "True" as const },
      { type: "NfrObserved", status: "True" as const },
      { type: "Mine", status: "True" as const },
    ];
    expect(nextConditions(previous, [], at("x")).map(({ type }) => type)).toEqual(["Mine", "NfrObserved"]);
  });
});
