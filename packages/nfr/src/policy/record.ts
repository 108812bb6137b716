import { equalJson, err, ok, pathOf, ROOT_PATH, type Result, type Violation } from "@oaas/foundation";
import { digestJson } from "@oaas/foundation/hash";
import type { PolicyDecision, PolicyInput, PolicySettings, UtilizationMove } from "../enforcement.ts";
import { decide } from "./decide.ts";
import { POLICY_VERSION } from "./settings.ts";
import { utilizationText } from "./utilization.ts";

/** The annotation of an event that has the record of its decision, as JSON. */
export const RECORD_ANNOTATION = "oaas.io/decision-record";

/** What was decided, without the explanation. */
export type Outcome =
  | {
      readonly action: "apply" | "revert";
      readonly lane: string;
      readonly from: number;
      readonly to: number;
      readonly utilization?: UtilizationMove;
    }
  | { readonly action: "hold"; readonly reason: string };

/** A decision with everything that is needed to recompute it. Plain JSON. */
export interface DecisionRecord {
  readonly settings: PolicySettings;
  readonly input: PolicyInput;
  readonly outcome: Outcome;
  /** The digest of the samples behind the recommendation. */
  readonly samplesDigest?: string;
  /** SHA-256 over the canonical JSON of the other members. */
  readonly digest: string;
}

/** Records a decision. */
export function recordDecision(
  input: PolicyInput,
  settings: PolicySettings,
  decision: PolicyDecision,
  samplesDigest?: string,
): DecisionRecord {
  const body = { settings, input, outcome: outcomeOf(decision), ...(samplesDigest ? { samplesDigest } : {}) };
  return { ...body, digest: digestJson(body) };
}

function outcomeOf(decision: PolicyDecision): Outcome {
  if (decision.action === "hold") return { action: "hold", reason: decision.reason };
  const { action, lane, from, to, utilization } = decision;
  return { action, lane, from, to, ...(utilization ? { utilization } : {}) };
}

/** Whether a recorded decision can be trusted, and why not. */
export interface Recomputation {
  readonly isEqual: boolean;
  readonly problems: readonly string[];
  /** What this policy decides on the recorded input; absent when the record is of another policy. */
  readonly recomputed?: Outcome;
}

/** Decides again on the recorded input and compares. A changed record and another policy version are not equal. */
export function recompute(record: DecisionRecord): Recomputation {
  const { digest, ...body } = record;
  const actual = digestJson(body);
  const changed = actual === digest ? [] : [`the record was changed: its digest is ${actual}, recorded ${digest}`];
  const { version } = record.settings;
  if (version !== POLICY_VERSION) {
    const problem = `the record is of policy version ${version}, this program has ${POLICY_VERSION}; use the program that recorded it`;
    return { isEqual: false, problems: [...changed, problem] };
  }
  const recomputed = outcomeOf(decide(record.input, record.settings));
  const different = equalJson(recomputed, record.outcome)
    ? []
    : [`the policy decides ${outcomeText(recomputed)}, recorded ${outcomeText(record.outcome)}`];
  const problems = [...changed, ...different];
  return { isEqual: problems.length === 0, problems, recomputed };
}

export function outcomeText(outcome: Outcome): string {
  if (outcome.action === "hold") return `hold (${outcome.reason})`;
  const { action, lane, from, to, utilization } = outcome;
  return `${action} ${utilization ? utilizationText(utilization) : `${from} to ${to}`} (${lane} lane)`;
}

/** Members that a record must have, with their type. */
const REQUIRED = {
  "": { settings: "object", input: "object", outcome: "object", digest: "string" },
  settings: { version: "string", stabilityMs: "number", maxReplicas: "number" },
  input: {
    nowMs: "number",
    mode: "string",
    dimension: "string",
    current: "number",
    state: "object",
    urgency: "object",
  },
  outcome: { action: "string" },
} as const;

/** Lists of the input. */
const LISTS = ["minimums", "maximums", "blockers"] as const;

/** Reads a record from JSON. Returns all violations. */
export function readDecisionRecord(document: unknown): Result<DecisionRecord, readonly Violation[]> {
  const violations: Violation[] = [];
  for (const [part, members] of Object.entries(REQUIRED)) {
    const owner = part === "" ? document : memberOf(document, part);
    if (typeof owner !== "object" || owner === null) {
      if (part === "") return err([{ path: ROOT_PATH, message: "is not a decision record" }]);
      continue;
    }
    for (const [name, type] of Object.entries(members)) {
      const value = memberOf(owner, name);
      const path = part === "" ? pathOf(ROOT_PATH, name) : pathOf(ROOT_PATH, part, name);
      if (value === null || typeof value !== type) violations.push({ path, message: `is not of type ${type}` });
    }
  }
  const input = memberOf(document, "input");
  const lists = [
    ...LISTS.map((name) => ({ path: pathOf(ROOT_PATH, "input", name), value: memberOf(input, name) })),
    ...["targets", "directionChangesMs"].map((name) => ({
      path: pathOf(ROOT_PATH, "input", "state", name),
      value: memberOf(memberOf(input, "state"), name),
    })),
  ];
  violations.push(
    ...lists.filter(({ value }) => !Array.isArray(value)).map(({ path }) => ({ path, message: "is not a list" })),
  );
  return violations.length > 0 ? err(violations) : ok(document as DecisionRecord);
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
}
