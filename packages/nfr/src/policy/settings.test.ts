import { expect, test } from "vitest";
import { DEFAULT_POLICY, POLICY_FIELDS, readPolicySettings } from "./settings.ts";

test("an empty document has the defaults", () => {
  expect(readPolicySettings(null)).toEqual({ ok: true, value: DEFAULT_POLICY });
  expect(readPolicySettings({})).toEqual({ ok: true, value: DEFAULT_POLICY });
});

test("times are in seconds and shares are fractions", () => {
  const read = readPolicySettings({ stability_secs: 60, max_delta: 0.5, max_replicas: 7 });
  expect(read).toEqual({ ok: true, value: { ...DEFAULT_POLICY, stabilityMs: 60_000, maxDelta: 0.5, maxReplicas: 7 } });
});

test("every setting but the version has a name in a document", () => {
  expect(POLICY_FIELDS.length).toBe(Object.keys(DEFAULT_POLICY).length - 1);
});

test.each<{ document: unknown; path: string; message: string }>([
  { document: [], path: "$", message: "is not an object" },
  { document: { stability: 3 }, path: "$.stability", message: "is not a setting of the policy" },
  { document: { __proto__: null, constructor: 3 }, path: "$.constructor", message: "is not a setting of the policy" },
  { document: { cooldown_secs: "60" }, path: "$.cooldown_secs", message: "is not a number" },
  { document: { cooldown_secs: -1 }, path: "$.cooldown_secs", message: "is -1, out of range" },
  { document: { max_replicas: 2.5 }, path: "$.max_replicas", message: "is 2.5, not an integer" },
  {
    document: { max_direction_changes_per_hour: 1 },
    path: "$.max_direction_changes_per_hour",
    message: "is 1, out of range",
  },
  { document: { max_delta: 3 }, path: "$.emergency_max_delta", message: "is 1, below max_delta 3" },
  { document: { cooldown_secs: 10 }, path: "$.emergency_cooldown_secs", message: "is 30, above cooldown_secs 10" },
])("rejects $document", ({ document, path, message }) => {
  const read = readPolicySettings(document);
  expect(read.ok ? [] : read.error).toEqual([expect.objectContaining({ path, message, fix: expect.any(String) })]);
});
