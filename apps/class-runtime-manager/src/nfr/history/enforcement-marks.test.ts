import { expect, it } from "vitest";
import type { EventObject } from "../../lifecycle/observation/observed-objects.ts";
import { enforcementMarks } from "./enforcement-marks.ts";

const SINCE = Date.parse("2026-01-01T12:00:00Z");

function event(record: unknown, over: object = {}): EventObject {
  const annotations = { "oaas.io/decision-record": typeof record === "string" ? record : JSON.stringify(record) };
  return {
    apiVersion: "v1",
    kind: "Event",
    reason: "NFRApplied",
    eventTime: "2026-01-01T12:10:00Z",
    metadata: { name: "e", annotations },
    ...over,
  };
}
const record = (digest: string, over: object = {}) => ({
  digest,
  input: { component: "f", dimension: "replicas" },
  outcome: { action: "apply", lane: "stable", from: 1, to: 2 },
  ...over,
});
const applied = {
  component: "f",
  dimension: "replicas" as const,
  target: 4,
  current: 2,
  action: "apply" as const,
  applied_at: "2026-01-01T12:20:00Z",
  digest: "sha256:b",
};

it("joins the last changes of the status with earlier ones of Events, oldest first, each once", () => {
  const status = { last_applied_recommendations: [applied] };
  expect(enforcementMarks(status, [event(record("sha256:b")), event(record("sha256:a"))], SINCE)).toEqual([
    { at: "2026-01-01T12:10:00Z", component: "f", dimension: "replicas", action: "apply", from: 1, to: 2 },
    { at: "2026-01-01T12:20:00Z", component: "f", dimension: "replicas", action: "apply", from: 2, to: 4 },
  ]);
});

it.each([
  { why: "before the range", given: event(record("a"), { eventTime: "2026-01-01T11:59:59Z" }) },
  { why: "without a change", given: event(record("a", { outcome: { action: "hold", reason: "cooldown" } })) },
  { why: "of another reason", given: event(record("a"), { reason: "NFRViolated" }) },
  { why: "without a time", given: event(record("a"), { eventTime: "soon" }) },
  { why: "with a record that is not JSON", given: event("{") },
  {
    why: "with numbers as text, which another client wrote",
    given: event(record("a", { outcome: { action: "apply", from: "1", to: {} } })),
  },
  { why: "with a component that is not text", given: event(record("a", { input: { component: 1, dimension: [] } })) },
])("ignores an Event $why", ({ given }) => {
  expect(enforcementMarks(undefined, [given], SINCE)).toEqual([]);
});
