import { realClock } from "@oaas/foundation/real";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { UsageError } from "../../exit-code.ts";
import type { ProcessEnvironment } from "../../process-environment.ts";
import { Session } from "../../session/session.ts";
import { explainRequirements } from "./explain.ts";
import { readNfrStatuses } from "./nfr-status.ts";

const RECOMMENDATION = {
  component: "resize",
  dimension: "replicas",
  target: 4,
  lower_bound: 3,
  upper_bound: 5,
  current: 2,
  confidence: 0.9,
  evidence: {
    window: "10m",
    query: "requests_per_second",
    values: {
      requests_per_second: 300,
      rps_per_replica: 97,
      sustained_rps: 97,
      saturated_rps: 117,
      capacity_confidence: 0.9,
      demand_replicas: 3.71,
      minimum_replicas: 1,
    },
  },
};

const MEASUREMENT = {
  requirement: "max_latency_ms",
  component: "resize",
  status: "violated",
  required: 100,
  observed: 151.25,
  unit: "ms",
  since: "2026-01-05T12:00:00Z",
  error_budget_left: -0.06,
};

const OBJECT = {
  kind: "ClassRuntime",
  metadata: { name: "hello" },
  status: {
    conditions: [
      { type: "Available", status: "True", reason: "Ready", message: "" },
      { type: "NfrObserved", status: "True", reason: "MetricsObserved", message: "The requirements are measured." },
    ],
    nfr_compliance: {
      overall_status: "Violated",
      measurements: [
        { ...MEASUREMENT, burn_rates: [{ long: "1h", short: "5m", long_rate: 5, short_rate: 4.2 }] },
        {
          requirement: "availability",
          component: "resize",
          status: "unknown",
          reason: "too few requests: 12 of 30",
          required: 0.999,
          unit: "ratio",
          burn_rates: [{ long: "1h", short: "5m" }],
        },
      ],
    },
    nfr_recommendations: [RECOMMENDATION],
    enforcement_state: [
      {
        component: "resize",
        dimension: "replicas",
        last_skip: "cooldown",
        last_action: { at: "2026-01-05T11:59:00Z", from: 1, to: 2, lane: "emergency", verified: false },
        direction_changes: ["2026-01-05T11:59:00Z"],
      },
    ],
  },
};

/** As the package manager reports it. */
const RUNTIME = {
  id: "u-1",
  package_name: "shop",
  class_key: "Order",
  cluster_name: "edge",
  status: {
    nfr_recommendations: [RECOMMENDATION],
    last_applied_recommendations: [
      {
        component: "resize",
        dimension: "replicas",
        target: 2,
        current: 1,
        applied: { action: "apply", lane: "stable", applied_at: "2026-01-05T11:59:00Z" },
      },
    ],
  },
  nfr_compliance: {
    measurements: [{ ...MEASUREMENT, burn_rates: [{ long_window: "1h", short_window: "5m", long_rate: 5 }] }],
  },
};

async function open({ files = {}, runtimes = [], output = "table" }: Given) {
  const printed: string[] = [];
  const environment = {
    terminal: { out: (text: string) => printed.push(text), err: () => undefined, isInteractive: false },
    files: { read: async (name: string) => files[name] },
    fetch: async (url: string) => answer(new URL(url).pathname, runtimes),
    env: { OAAS_PM_URL: "http://127.0.0.1:1" },
    clock: realClock,
    signal: new AbortController().signal,
  } as unknown as ProcessEnvironment;
  return { session: await Session.open(environment, { output }), text: () => printed.join("") };
}

/** As every response of the package manager. */
const MARKED = { headers: { "x-correlation-id": "test" } };

/** Answers as a package manager with one deployment, `order`, whose unit is `u-1`. */
function answer(path: string, runtimes: readonly object[]): Response {
  if (path === "/api/v1/class-runtimes") return Response.json(runtimes, MARKED);
  if (path === "/api/v1/class-runtimes/u-1/enforcement") return Response.json(ENFORCEMENT, MARKED);
  if (path === "/api/v1/deployments/order/status") return Response.json({ clusters: [{ unit_id: "u-1" }] }, MARKED);
  const code = path.endsWith("/enforcement") ? ["unimplemented", 501] : ["not-found", 404];
  const [kind, status] = code as [string, number];
  return Response.json({ error: "not there", kind, code: "OAAS_NONE" }, { status });
}

const ENFORCEMENT = {
  conditions: [{ type: "NfrEnforced", status: "True", reason: "Enforcing", message: "Requirements are enforced." }],
  states: [
    {
      component: "resize",
      dimension: "replicas",
      last_skip: "stability",
      last_action: { at: "2026-01-05T11:59:00Z", from: 1, to: 2, lane: "stable" },
      direction_changes: 2,
    },
  ],
  decisions: [],
};

interface Given {
  readonly files?: Readonly<Record<string, string>>;
  readonly runtimes?: readonly object[];
  readonly output?: string;
}

describe("oaas nfr explain", () => {
  test("shows requirements, signals, model, rules, gates and what would change the decision", async () => {
    const { session, text } = await open({ files: { "hello.json": JSON.stringify(OBJECT) } });
    await explainRequirements(session, { file: "hello.json" });
    expect(text().replaceAll(/ +\n/g, "\n")).toBe(`hello
NfrObserved True MetricsObserved: The requirements are measured.

REQUIREMENT      COMPONENT   STATUS     MEASURED   REQUIRED   SINCE                  BUDGET LEFT   BURN RATES    REASON
max_latency_ms   resize      violated   151 ms     100 ms     2026-01-05T12:00:00Z   -6 %          1h/5m 5/4.2
availability     resize      unknown    -          99.9 %     -                      -             -             too few requests: 12 of 30

resize replicas: 4 replicas recommended (3 to 5), 2 in effect, confidence 90 %
  signals   requests_per_second 300 over 10m
  model     one replica serves 97 requests per second
            latency was within its limit at 97
            latency was too high at 117
            confidence 90 %
  rules     demand needs 3.71
            minimum needs 1
  gates     holds: the cooldown after the last change has not passed
            last change from 1 to 2 at 2026-01-05T11:59:00Z (emergency)
            1 change of direction in the last hour
  changes   more than 4 above 323 requests per second
            fewer below 221 requests per second
`);
  });

  test.each(["shop.Order", "Order", "order", "u-1"])(
    "finds the class runtimes of %s in the package manager",
    async (subject) => {
      const { session, text } = await open({ runtimes: [RUNTIME, { ...RUNTIME, id: "u-2", class_key: "Cart" }] });
      await explainRequirements(session, {}, subject);
      expect(text()).toContain("u-1 in edge\nNfrEnforced True Enforcing: Requirements are enforced.\n");
      expect(text()).not.toContain("u-2");
      expect(text()).toContain("holds: the target must stay in one direction for the whole stability window\n");
      expect(text()).toContain("last change from 1 to 2 at 2026-01-05T11:59:00Z (stable)");
      expect(text()).toContain("2 changes of direction in the last hour");
      expect(text()).toContain("1h/5m 5/-");
    },
  );

  test("shows the last change when the manager of the cluster reports no state", async () => {
    const { session, text } = await open({ runtimes: [{ ...RUNTIME, id: "u-3" }] });
    await explainRequirements(session, {}, "shop.Order");
    expect(text()).toContain("last change from 1 to 2 at 2026-01-05T11:59:00Z (stable)");
  });

  test("prints the explanation as JSON", async () => {
    const { session, text } = await open({ runtimes: [RUNTIME], output: "json" });
    await explainRequirements(session, {}, "shop.Order");
    expect(JSON.parse(text())).toMatchObject([
      { name: "u-1", recommendations: [{ component: "resize", rules: ["demand needs 3.71", "minimum needs 1"] }] },
    ]);
  });

  test.each([
    { why: "no class", flags: {}, subject: undefined, message: "the class is missing" },
    { why: "an unknown class", flags: {}, subject: "shop.Cart", message: "no class runtime of shop.Cart" },
    { why: "a missing file", flags: { file: "x.json" }, subject: undefined, message: "x.json does not exist" },
    { why: "a file with other text", flags: { file: "bad" }, subject: undefined, message: "bad is not JSON" },
    { why: "a file without one", flags: { file: "none" }, subject: undefined, message: "none has no class runtime" },
  ])("rejects $why", async ({ flags, subject, message }) => {
    const { session } = await open({ files: { bad: "<html>", none: "{}" }, runtimes: [RUNTIME] });
    const run = explainRequirements(session, flags, subject);
    await expect(run).rejects.toThrow(UsageError);
    await expect(run).rejects.toThrow(message);
  });
});

describe("readNfrStatuses", () => {
  test("reads lists of kubectl", () => {
    expect(readNfrStatuses({ kind: "List", items: [OBJECT, OBJECT] }).map(({ name }) => name)).toEqual([
      "hello",
      "hello",
    ]);
  });

  test("ignores fields of another type", () => {
    const anything = fc.jsonValue();
    fc.assert(
      fc.property(anything, anything, anything, anything, (recommendations, measurements, states, conditions) => {
        const status = {
          nfr_recommendations: recommendations,
          nfr_compliance: { measurements },
          enforcement_state: states,
          conditions,
        };
        for (const each of readNfrStatuses([{ metadata: { name: "x" }, status }, status])) {
          expect(each.name).toBe("x");
          expect(each.recommendations.every(({ target }) => Number.isFinite(target))).toBe(true);
        }
      }),
    );
  });
});
