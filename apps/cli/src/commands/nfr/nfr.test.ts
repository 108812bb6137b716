import { realClock } from "@oaas/foundation/real";
import type { PolicyInput } from "@oaas/nfr";
import { decide, DEFAULT_POLICY, RECORD_ANNOTATION, recordDecision, type DecisionRecord } from "@oaas/nfr/policy";
import { describe, expect, test } from "vitest";
import { EXIT, UsageError } from "../../exit-code.ts";
import type { ProcessEnvironment } from "../../process-environment.ts";
import { Session } from "../../session/session.ts";
import { provePolicy } from "./prove.ts";
import { verifyDecisions } from "./verify.ts";

const INPUT: PolicyInput = {
  nowMs: 0,
  mode: "enforce",
  component: "echo",
  dimension: "replicas",
  isAllowed: true,
  recommendation: {
    component: "echo",
    dimension: "replicas",
    target: 9,
    lowerBound: 9,
    upperBound: 9,
    basis: { window: "5m", query: "", values: {} },
    confidence: 1,
    observedAtMs: 0,
    validUntilMs: 60_000,
  },
  current: 2,
  minimums: [],
  maximums: [],
  urgency: { burnRate5m: 20, burnRate1h: 15 },
  blockers: [],
  isFrozen: false,
  leaderSinceMs: 0,
  state: { targets: [], directionChangesMs: [] },
};

const RECORD = recordDecision(INPUT, DEFAULT_POLICY, decide(INPUT, DEFAULT_POLICY));

function eventOf(record: DecisionRecord): object {
  return { kind: "Event", metadata: { name: "hello.1", annotations: { [RECORD_ANNOTATION]: JSON.stringify(record) } } };
}

const RUNTIME = { id: "hello-edge-1", package_name: "shop", class_key: "shop.Order", cluster_name: "edge" };

function decisionOf(record: object, digest = RECORD.digest) {
  return {
    component: "echo",
    dimension: "replicas",
    applied_at: "2026-01-05T11:59:00Z",
    digest,
    event_name: `hello-edge-1-${digest.slice(7, 23)}`,
    record: JSON.stringify(record),
  };
}

/** As every response of the package manager. */
const MARKED = { headers: { "x-correlation-id": "test" } };

/** A package manager with one class runtime and these decisions. */
function packageManager(decisions: readonly object[]) {
  return async (url: string): Promise<Response> => {
    const { pathname } = new URL(url);
    if (pathname === "/api/v1/class-runtimes") return Response.json([RUNTIME], MARKED);
    if (pathname === "/api/v1/class-runtimes/hello-edge-1/enforcement")
      return Response.json({ conditions: [], states: [], decisions }, MARKED);
    return Response.json({ error: "not there", kind: "not-found", code: "OAAS_NONE" }, { status: 404 });
  };
}

async function open(files: Readonly<Record<string, string>>, output = "table", fetch?: unknown) {
  const printed: string[] = [];
  const environment = {
    terminal: {
      out: (text: string) => printed.push(text),
      err: (text: string) => printed.push(text),
      isInteractive: false,
    },
    files: { read: async (name: string) => files[name] },
    env: { OAAS_PM_URL: "http://127.0.0.1:1" },
    fetch,
    clock: realClock,
    signal: new AbortController().signal,
  } as unknown as ProcessEnvironment;
  return { session: await Session.open(environment, { output }), printed };
}

describe("oaas nfr verify", () => {
  test("accepts records, events and lists of events", async () => {
    const files = {
      "record.json": JSON.stringify(RECORD),
      "event.json": JSON.stringify(eventOf(RECORD)),
      "list.json": JSON.stringify({ items: [{ metadata: { name: "other" } }, eventOf(RECORD)] }),
    };
    const { session, printed } = await open(files);
    expect(await verifyDecisions(session, {}, ...Object.keys(files))).toBe(EXIT.done);
    expect(printed.join("")).toBe(
      "record.json: echo replicas apply 2 to 6 (emergency lane): equal\n" +
        "hello.1: echo replicas apply 2 to 6 (emergency lane): equal\n".repeat(2),
    );
  });

  test("fails when a decision is not equal", async () => {
    const forged = { ...RECORD, outcome: { action: "apply", lane: "stable", from: 2, to: 9 } };
    const { session, printed } = await open(
      { "event.json": JSON.stringify(eventOf(forged as DecisionRecord)) },
      "json",
    );
    expect(await verifyDecisions(session, {}, "event.json")).toBe(EXIT.failed);
    expect(JSON.parse(printed.join(""))).toMatchObject([
      {
        name: "hello.1",
        result: "not equal",
        problems: [expect.any(String), expect.stringContaining("recorded apply 2 to 9")],
      },
    ]);
  });

  test.each([
    { text: "{", message: "f is not JSON" },
    { text: '{"kind":"Event","metadata":{"name":"x"}}', message: "f has no recorded decision" },
    { text: '{"outcome":{}}', message: "f has an invalid record" },
  ])("rejects $text", async ({ text, message }) => {
    const { session } = await open({ f: text });
    await expect(verifyDecisions(session, {}, "f")).rejects.toThrow(message);
  });

  test("rejects a file that does not exist", async () => {
    const { session } = await open({});
    await expect(verifyDecisions(session, {}, "f.json")).rejects.toThrow(UsageError);
    await expect(verifyDecisions(session, {}, "./f")).rejects.toThrow("./f does not exist");
  });

  describe("from the cluster", () => {
    const EVENT = decisionOf(RECORD).event_name;

    test.each([
      { subject: "shop.Order", flags: {} },
      { subject: "hello-edge-1", flags: { action: "echo" } },
      { subject: "shop.Order", flags: { action: "echo/replicas", cluster: "edge" } },
      { subject: "shop.Order", flags: { action: RECORD.digest.slice(0, 14) } },
      { subject: EVENT, flags: {} },
    ])("recomputes the decision of $subject with $flags", async ({ subject, flags }) => {
      const { session, printed } = await open({}, "table", packageManager([decisionOf(RECORD)]));
      expect(await verifyDecisions(session, flags, subject)).toBe(EXIT.done);
      expect(printed.join("")).toBe(`${EVENT}: echo replicas apply 2 to 6 (emergency lane): equal\n`);
    });

    test("says what differs", async () => {
      const forged = { ...RECORD, input: { ...INPUT, current: 4 } };
      const { session, printed } = await open({}, "table", packageManager([decisionOf(forged)]));
      expect(await verifyDecisions(session, {}, "shop.Order")).toBe(EXIT.failed);
      expect(printed.join("")).toContain("apply 2 to 6 (emergency lane): not equal\n  the record was changed: ");
      expect(printed.join("")).toContain("  the policy decides apply 4 to 8 (emergency lane), recorded apply 2 to 6");
    });

    test.each([
      { why: "no decisions", given: [], subject: "shop.Order", flags: {}, message: "has no recorded decision" },
      {
        why: "another action",
        given: [decisionOf(RECORD)],
        subject: "shop.Order",
        flags: { action: "cpu" },
        message: "has no record of this action cpu",
      },
      {
        why: "another Event of the class",
        given: [decisionOf(RECORD)],
        subject: "hello-edge-1-0",
        flags: {},
        message: "has no record of this Event",
      },
      { why: "an unknown name", given: [], subject: "none", flags: {}, message: "none is not a file, a class, " },
      {
        why: "a record that is not JSON",
        given: [{ ...decisionOf(RECORD), record: "<" }],
        subject: "shop.Order",
        flags: {},
        message: "is not JSON",
      },
    ])("rejects $why with a fix", async ({ given, subject, flags, message }) => {
      const { session } = await open({}, "table", packageManager(given));
      const error = await verifyDecisions(session, flags, subject).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(UsageError);
      expect((error as UsageError).message).toContain(message);
      expect((error as UsageError).fix).not.toBeUndefined();
    });
  });
});

describe("oaas nfr prove", () => {
  const small = { maxReplicas: 3, loads: 2, tick: 150 };

  test("reports the number of states in which the laws hold", async () => {
    const { session, printed } = await open({ "policy.yaml": "cooldown_secs: 60\n" });
    expect(await provePolicy(session, small, "policy.yaml")).toBe(EXIT.done);
    expect(printed.join("")).toMatch(/^policy.yaml: 6 laws hold in \d+ states: within the limits, /u);
  });

  test("prints the grid and the states as JSON", async () => {
    const { session, printed } = await open({ "policy.yaml": "" }, "json");
    expect(await provePolicy(session, small, "policy.yaml")).toBe(EXIT.done);
    expect(JSON.parse(printed.join(""))).toMatchObject({ result: "holds", grid: { loads: [1, 3], maxReplicas: 3 } });
  });

  test.each([
    { text: "cooldown: 1", message: "$.cooldown: is not a setting of the policy" },
    { text: "max_delta: x", message: "$.max_delta: is not a number" },
    { text: "{", message: "policy.yaml is not YAML" },
  ])("rejects $text", async ({ text, message }) => {
    const { session } = await open({ "policy.yaml": text });
    await expect(provePolicy(session, small, "policy.yaml")).rejects.toThrow(message);
  });
});
