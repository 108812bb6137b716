import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fieldConflictsIn, type JsonObject } from "@oaas/kube-core";
import recorded from "../../testdata/recorded/server-side-apply.json" with { type: "json" };
import type { StructuralSchema } from "../schema/structural-schema.ts";
import { isEmptySet, union } from "./fields/field-set.ts";
import { compareFields } from "./merge/compare-fields.ts";
import { readManagers } from "./managers/managed-fields.ts";
import { mergeOrder } from "./merge/merge-configuration.ts";
import { applyConfiguration, trackUpdate } from "./server-side-apply.ts";

const schema = recorded.schema as unknown as StructuralSchema;
const identity = { apiVersion: "probe.test/v1", kind: "Mix", metadata: { name: "t" } };

const text = fc.constantFrom("1", "2");
const names = fc.constantFrom("x", "y", "z");
const maps = fc.dictionary(names, text, { maxKeys: 3 });
const anything = fc.oneof(text, fc.array(text, { maxLength: 2 }), maps, fc.dictionary(names, maps, { maxKeys: 2 }));
const specs = fc.record(
  {
    a: text,
    b: fc.constantFrom(1, 2),
    o: fc.record({ x: text, y: text }, { requiredKeys: [] }),
    gm: maps,
    am: maps,
    al: fc.array(text, { maxLength: 2 }),
    set: fc.uniqueArray(names),
    ml: fc.uniqueArray(fc.record({ k: names, v: text, w: fc.constant(1) }, { requiredKeys: ["k"] }), {
      selector: ({ k }) => k,
    }),
    any: anything,
    mo: fc.dictionary(names, fc.record({ p: text }, { requiredKeys: [] }), { maxKeys: 2 }),
  },
  { requiredKeys: [] },
);
const configs = specs.map((spec): JsonObject => ({ ...identity, spec: spec as JsonObject }));

function apply(live: JsonObject, config: JsonObject, manager: string, time = "2026-01-01T00:00:00Z"): JsonObject {
  const result = applyConfiguration(
    { live, schema, writer: { manager, apiVersion: identity.apiVersion, time } },
    config,
    true,
  );
  if (!result.ok) throw new Error(result.error.message);
  return result.value;
}

describe("for any configurations", () => {
  test("apply is idempotent at any time", () => {
    fc.assert(
      fc.property(configs, configs, (first, second) => {
        const once = apply(apply({}, first, "m1"), second, "m2");
        expect(apply(once, second, "m2", "2027-01-01T00:00:00Z")).toEqual(once);
      }),
    );
  });

  test("an empty configuration removes fields that only this manager applied", () => {
    fc.assert(
      fc.property(configs, configs, (first, second) => {
        const { spec: _spec, ...nothing } = second;
        const emptied = apply(apply({}, first, "m1"), nothing, "m1");
        expect(emptied["spec"]).toBeUndefined();
        expect(readManagers(emptied)).toBeUndefined();
      }),
    );
  });

  test("managers with disjoint fields may apply in any order", () => {
    const part = (spec: JsonObject, isChosen: (name: string) => boolean): JsonObject => ({
      ...identity,
      spec: Object.fromEntries(Object.entries(spec).filter(([name]) => isChosen(name))),
    });
    fc.assert(
      fc.property(specs, fc.func(fc.boolean()), (spec, isFirst) => {
        const [one, other] = [part(spec, isFirst), part(spec, (name) => !isFirst(name))];
        const oneFirst = apply(apply({}, one, "m1"), other, "m2");
        const otherFirst = apply(apply({}, other, "m2"), one, "m1");
        expect(omitTimes(oneFirst)).toEqual(omitTimes(otherFirst));
      }),
    );
  });

  test("a manager that only joins as owner of existing values gets no time", () => {
    const config = { ...identity, spec: { a: "1" } };
    const shared = apply(apply({}, config, "m1"), config, "m2");
    const times = [...(readManagers(shared) ?? new Map()).values()].map(({ manager, time }) => [
      manager,
      time !== undefined,
    ]);
    expect(Object.fromEntries(times)).toEqual({ m1: true, m2: false });
  });

  test("an applier gets its values, and after force no other manager owns a different value", () => {
    fc.assert(
      fc.property(configs, configs, (first, second) => {
        const after = apply(apply({}, first, "m1"), second, "m2");
        const { modified, added } = compareFields(after, { ...after, ...mergeSpec(after, second) }, schema);
        expect(isEmptySet(union(modified, added))).toBe(true);
      }),
    );
  });

  test("every value written by an update has an owner", () => {
    fc.assert(
      fc.property(configs, configs, (first, second) => {
        const writer = { manager: "u", apiVersion: identity.apiVersion, time: "2026-01-01T00:00:00Z" };
        const created = trackUpdate({ live: {}, schema, writer }, first);
        const next = trackUpdate({ live: created, schema, writer: { ...writer, manager: "v" } }, second);
        const restored = trackUpdate({ live: {}, schema, writer }, second);
        const all = [...(readManagers(next) ?? new Map()).values()].map(({ fields }) => fields).reduce(union);
        const owned = [...(readManagers(restored) ?? new Map()).values()].map(({ fields }) => fields).reduce(union);
        expect(all).toEqual(owned);
      }),
    );
  });

  test("a conflict names fields that its parser finds again", () => {
    fc.assert(
      fc.property(configs, configs, (first, second) => {
        const live = apply({}, first, "m1");
        const writer = { manager: "m2", apiVersion: identity.apiVersion, time: "2026-01-01T00:00:00Z" };
        const result = applyConfiguration({ live, schema, writer }, second, false);
        if (result.ok) return;
        const conflicts = fieldConflictsIn(result.error);
        expect(conflicts.length).toBeGreaterThan(0);
        expect(new Set(conflicts.map(({ manager }) => manager))).toEqual(new Set(["m1"]));
      }),
    );
  });
});

/** The spec with the configuration merged over it member by member. */
function mergeSpec(object: JsonObject, config: JsonObject): JsonObject {
  return { spec: { ...(object["spec"] as JsonObject), ...pickLeaves(config["spec"] as JsonObject) } };
}

function pickLeaves(spec: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(spec).filter(([name]) => ["a", "b", "am", "al"].includes(name)));
}

test.each([
  { live: "abc", config: "cxa", order: "bcxa", case: "the order of the configuration wins" },
  { live: "abc", config: "", order: "abc", case: "an empty configuration moves nothing" },
  { live: "", config: "abc", order: "abc", case: "all new" },
  { live: "ab", config: "xay", order: "xaby", case: "items missing in the configuration stay in place" },
])("$case: merges $live and $config to $order", ({ live, config, order }) => {
  expect(mergeOrder(live.split(""), config.split("")).join("")).toBe(order);
});

/** An object whose managers are compared without their times. */
function omitTimes(object: JsonObject): JsonObject {
  const metadata = object["metadata"] as JsonObject;
  const managers = (metadata["managedFields"] ?? []) as readonly JsonObject[];
  const bare = managers.map(({ time: _time, ...entry }): JsonObject => entry);
  return {
    ...object,
    metadata: {
      ...metadata,
      managedFields: bare.sort((a, b) => ((a["manager"] as string) < (b["manager"] as string) ? -1 : 1)),
    },
  };
}
