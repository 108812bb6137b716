import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "@oaas/kube-core";
import recorded from "../../testdata/recorded/custom-resources.json" with { type: "json" };
import { admitted, customResourceErrors } from "./custom-resource.ts";
import { withDefaults } from "./defaulting.ts";
import { fieldErrorText, type FieldError } from "./field-error.ts";
import { pruned } from "./pruning.ts";
import type { StructuralSchema } from "./structural-schema.ts";

interface Case {
  readonly why: string;
  readonly object: JsonObject;
  readonly admitted?: JsonObject;
  readonly causes?: readonly FieldError[];
}

const schema = recorded.schema as unknown as StructuralSchema;
const cases = recorded.cases as unknown as readonly Case[];

const identity = { apiVersion: "probe.test/v1", kind: "Sink", metadata: { name: "t" } };

/** The server looks at members in no order. */
function sorted(errors: readonly FieldError[]): readonly string[] {
  return errors.map((error) => `${error.reason} ${fieldErrorText(error)}`).sort();
}

describe("the server's answers, recorded", () => {
  test.each(cases)("$why", ({ object, admitted: wanted, causes = [] }) => {
    const taken = admitted({ ...identity, ...object }, schema);
    expect(sorted(customResourceErrors(taken, schema))).toEqual(sorted(causes));
    if (wanted !== undefined) expect(taken).toEqual({ ...identity, ...wanted });
  });
});

describe("for any object", () => {
  const specs = cases.map(({ object }) => object["spec"]).filter((spec) => typeof spec === "object" && spec !== null);
  const parts = specs.flatMap((spec) => Object.entries(spec as JsonObject));
  const anything = fc.tuple(fc.constantFrom(...parts.map(([name]) => name), "unknown"), fc.jsonValue({ maxDepth: 3 }));
  const objects = fc
    .array(fc.oneof(fc.constantFrom(...parts), anything), { maxLength: 8 })
    .map((members) => ({ ...identity, spec: Object.fromEntries(members) as JsonObject }));

  test("defaulting twice is defaulting once", () => {
    fc.assert(
      fc.property(objects, (object) => {
        const once = withDefaults(object, schema);
        expect(withDefaults(once, schema)).toBe(once);
      }),
    );
  });

  test("pruning twice is pruning once", () => {
    fc.assert(
      fc.property(objects, (object) => {
        const once = pruned(object, schema);
        expect(pruned(once, schema)).toBe(once);
      }),
    );
  });

  test("what is taken in stays as it is when it is written again", () => {
    fc.assert(
      fc.property(objects, (object) => {
        const once = admitted(object, schema);
        expect(admitted(once, schema)).toEqual(once);
      }),
    );
  });

  test("unknown fields are no errors: an object validates as it does when pruned", () => {
    fc.assert(
      fc.property(objects, (object) => {
        const whole = customResourceErrors(object, closed);
        expect(sorted(customResourceErrors(pruned(object, closed) as JsonObject, closed))).toEqual(sorted(whole));
      }),
    );
  });
});

/** Without bounds on the number of members, which alone can tell whether an unknown one is there. */
const closed: StructuralSchema = {
  ...schema,
  properties: {
    spec: {
      ...schema.properties!["spec"]!,
      properties: Object.fromEntries(
        Object.entries(schema.properties!["spec"]!.properties!).filter(([name]) => name !== "am"),
      ),
    },
  },
};
