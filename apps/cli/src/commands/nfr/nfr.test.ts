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

async function open(files: Readonly<Record<string, string>>, output = "table") {
  const printed: string[] = [];
  const environment = {
    terminal: {
      out: (text: string) => printed.push(text),
      err: (text: string) => printed.push(text),
      isInteractive: false,
    },
    files: { read: async (name: string) => files[name] },
    env: {},
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
    await expect(verifyDecisions(session, {}, "f")).rejects.toThrow(UsageError);
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
