import { expect, test } from "vitest";
import { planClass } from "./class-plan.ts";
import { STANDARD_POLICY } from "./policy.ts";
import { inputOf, type PartialInput } from "../testing/inputs.ts";
import { alwaysOnReplicas, knativeMaxScale } from "./scale.ts";

const EDGE = { ...STANDARD_POLICY, id: "edge", replicas: 2 };

function scaleOf(provision: object, rest: Omit<PartialInput, "spec"> & { spec?: object } = {}) {
  const spec = {
    functions: [{ function_key: "a", provision_config: { container_image: "a", ...provision } }],
    ...rest.spec,
  };
  const plan = planClass(inputOf({ ...rest, spec }), EDGE);
  return plan.ok ? plan.value.functions[0]?.scale : plan.error;
}

const environment = (spec: object) => ({ environment: { name: "e", spec: { kind: "edge" as const, ...spec } } });

test.each<{ case: string; scale: unknown; want: unknown }>([
  { case: "nothing stated: the template's", scale: scaleOf({}), want: { min: 2, stated: false } },
  {
    case: "the function's own wins",
    scale: scaleOf({ min_scale: 5, max_scale: 9 }, environment({ scale: { min_scale: 3 } })),
    want: { min: 5, max: 9, stated: true },
  },
  {
    case: "else the allocation of the package manager",
    scale: scaleOf({}, { spec: { resource_allocation: { min_replicas: 4 } } }),
    want: { min: 4, stated: true },
  },
  {
    case: "else the environment's",
    scale: scaleOf({}, environment({ scale: { min_scale: 3, max_scale: 6 } })),
    want: { min: 3, max: 6, stated: true },
  },
  {
    case: "throughput raises the template's",
    scale: scaleOf({}, { spec: { nfr_requirements: { throughput: 3500 } } }),
    want: { min: 4, derivedMax: 8, stated: false },
  },
  {
    case: "a stated maximum instead of the derived one",
    scale: scaleOf({ max_scale: 9 }, { spec: { nfr_requirements: { throughput: 3500 } } }),
    want: { min: 4, max: 9, stated: false },
  },
  {
    case: "no derived maximum where enforcement moves the replicas",
    scale: scaleOf({}, { spec: { nfr_requirements: { throughput: 3500 } }, isEnforced: true }),
    want: { min: 4, stated: false },
  },
  {
    case: "the quota limits the derived maximum",
    scale: scaleOf(
      {},
      { spec: { nfr_requirements: { throughput: 3500 } }, ...environment({ quotas: { max_replicas: 5 } }) },
    ),
    want: { min: 4, derivedMax: 5, quota: 5, stated: false },
  },
  {
    case: "limits chosen replicas to the maximum",
    scale: scaleOf({}, { spec: { nfr_requirements: { throughput: 90_000 } } }),
    want: { min: 20, derivedMax: 20, stated: false },
  },
  {
    case: "the maximum limits the template's replicas",
    scale: scaleOf({ max_scale: 1 }),
    want: { min: 1, max: 1, stated: false },
  },
  {
    case: "the quota limits the template's replicas",
    scale: scaleOf({}, environment({ quotas: { max_replicas: 1 } })),
    want: { min: 1, quota: 1, stated: false },
  },
  {
    case: "a maximum that enforcement may raise stays until it does",
    scale: scaleOf({ max_scale: 4 }, { spec: { enforcement: { max_replicas: 9 } } }),
    want: { min: 2, max: 4, statedMax: { value: 4, source: "max_scale" }, stated: false },
  },
  {
    case: "enforcement.max_replicas alone sets no maximum of the autoscaler",
    scale: scaleOf({}, { spec: { enforcement: { max_replicas: 9 } } }),
    want: { min: 2, stated: false },
  },
])("$case", ({ scale, want }) => {
  const { limits: _, ...planned } = scale as { readonly limits?: unknown };
  expect(planned).toEqual(want);
});

test.each<{ case: string; scale: unknown; limits: unknown }>([
  {
    case: "the template below, nothing above",
    scale: scaleOf({}, { spec: { nfr_requirements: { throughput: 3500 } } }),
    limits: { min: { value: 2, source: "template edge" } },
  },
  {
    case: "what the class states",
    scale: scaleOf({ min_scale: 3, max_scale: 9 }),
    limits: { min: { value: 3, source: "min_scale" }, max: { value: 9, source: "max_scale" } },
  },
  {
    case: "the quota of the environment",
    scale: scaleOf({ max_scale: 5 }, environment({ quotas: { max_replicas: 6 } })),
    limits: { min: { value: 2, source: "template edge" }, max: { value: 5, source: "max_scale" } },
  },
  {
    case: "the quota alone",
    scale: scaleOf({}, environment({ quotas: { max_replicas: 6 } })),
    limits: {
      min: { value: 2, source: "template edge" },
      max: { value: 6, source: "quotas.max_replicas of environment e" },
    },
  },
])("limits of enforcement: $case", ({ scale, limits }) => {
  expect(scale).toMatchObject({ limits });
});

test.each([
  { case: "within the limits", provision: { min_scale: 2, max_scale: 9 }, replicas: 7, min: 7 },
  { case: "below the minimum of the class", provision: { min_scale: 2 }, replicas: 1, min: 2 },
  { case: "above the maximum of the class", provision: { max_scale: 9 }, replicas: 12, min: 9 },
])("enforced replicas $case", ({ provision, replicas, min }) => {
  const enforced = new Map([["a", { replicas }]]);
  expect(scaleOf(provision, { enforced })).toMatchObject({ min });
});

test.each([
  { case: "none stated and no quota", scale: {}, want: undefined },
  { case: "none stated: the quota", scale: { quota: 3 }, want: 3 },
  { case: "zero, which is unlimited: the quota", scale: { max: 0, quota: 3 }, want: 3 },
  { case: "zero without a quota", scale: { max: 0 }, want: 0 },
  { case: "the maximum of the class", scale: { max: 2, quota: 3 }, want: 2 },
])("the maximum of a Knative Service: $case", ({ scale, want }) => {
  expect(knativeMaxScale({ min: 0, stated: false, ...scale })).toBe(want);
});

test("rejects scale above the quota", () => {
  expect(scaleOf({ min_scale: 5 }, environment({ quotas: { max_replicas: 4 } }))).toEqual([
    {
      path: "$.functions[0].provision_config.min_scale",
      message: "5 is above the 4 replicas that environment e allows",
      fix: "lower min_scale to 4 or raise quotas.max_replicas",
    },
  ]);
});

test("runs at least one replica unless the maximum is zero", () => {
  expect(alwaysOnReplicas({ min: 0, stated: true })).toBe(1);
  expect(alwaysOnReplicas({ min: 0, max: 0, stated: true })).toBe(0);
});

test.each([
  { why: "within the limits", enforced: { max_replicas: 7 }, quota: undefined, max: 7 },
  { why: "never below max_scale", enforced: { max_replicas: 2 }, quota: undefined, max: 4 },
  { why: "never above enforcement.max_replicas", enforced: { max_replicas: 50 }, quota: undefined, max: 9 },
  { why: "never above the quota", enforced: { max_replicas: 50 }, quota: 6, max: 6 },
])("enforcement raises the maximum of an autoscaler $why", ({ enforced, quota, max }) => {
  const found = scaleOf(
    { max_scale: 4 },
    {
      spec: { enforcement: { max_replicas: 9 } },
      enforced: new Map([["a", enforced]]),
      ...(quota === undefined ? {} : environment({ quotas: { max_replicas: quota } })),
    },
  );
  expect(found).toMatchObject({ max });
});

test.each([
  { why: "above max_scale", enforcement: { max_replicas: 9 }, most: 9 },
  { why: "below max_scale", enforcement: { max_replicas: 3 }, most: 3 },
  { why: "not stated", enforcement: {}, most: 4 },
  { why: "below the planned minimum", enforcement: { max_replicas: 1 }, most: 2 },
])("enforcement chooses at most $most replicas when its limit is $why", ({ enforcement, most }) => {
  const found = scaleOf({ max_scale: 4 }, { spec: { enforcement } });
  expect(found).toMatchObject({ limits: { max: { value: most } } });
});
