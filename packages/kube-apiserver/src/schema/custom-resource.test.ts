import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "@oaas/kube-core";
import recorded from "../../testdata/recorded/custom-resources.json" with { type: "json" };
import { admitCustomResource, validateCustomResource } from "./custom-resource.ts";
import { applyDefaults } from "./defaulting.ts";
import { formatFieldError, type FieldError } from "./field-error.ts";
import { pruneObject } from "./pruning.ts";
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

/** The server visits members in random order. */
function sorted(errors: readonly FieldError[]): readonly string[] {
  return errors.map((error) => `${error.reason} ${formatFieldError(error)}`).sort();
}

describe("matches recorded server responses", () => {
  test.each(cases)("$why", ({ object, admitted: expected, causes = [] }) => {
    const admitted = admitCustomResource({ ...identity, ...object }, schema);
    expect(sorted(validateCustomResource(admitted, schema))).toEqual(sorted(causes));
    if (expected !== undefined) expect(admitted).toEqual({ ...identity, ...expected });
  });
});

describe("for any object", () => {
  const specs = cases.map(({ object }) => object["spec"]).filter((spec) => typeof spec === "object" && spec !== null);
  const parts = specs.flatMap((spec) => Object.entries(spec as JsonObject));
  const anything = fc.tuple(fc.constantFrom(...parts.map(([name]) => name), "unknown"), fc.jsonValue({ maxDepth: 3 }));
  const objects = fc
    .array(fc.oneof(fc.constantFrom(...parts), anything), { maxLength: 8 })
    .map((members) => ({ ...identity, spec: Object.fromEntries(members) as JsonObject }));

  test("defaulting is idempotent", () => {
    fc.assert(
      fc.property(objects, (object) => {
        const once = applyDefaults(object, schema);
        expect(applyDefaults(once, schema)).toBe(once);
      }),
    );
  });

  test("pruning is idempotent", () => {
    fc.assert(
      fc.property(objects, (object) => {
        const once = pruneObject(object, schema);
        expect(pruneObject(once, schema)).toBe(once);
      }),
    );
  });

  test("an accepted object is unchanged when written again", () => {
    fc.assert(
      fc.property(objects, (object) => {
        const once = admitCustomResource(object, schema);
        expect(admitCustomResource(once, schema)).toEqual(once);
      }),
    );
  });

  test("unknown fields are not errors: an object and its pruned form validate alike", () => {
    fc.assert(
      fc.property(objects, (object) => {
        // Messages quote the value, with its unknown fields.
        const placesIn = (json: JsonObject): readonly string[] =>
          validateCustomResource(json, closed)
            .map(({ reason, field }) => `${reason} ${field}`)
            .sort();
        expect(placesIn(pruneObject(object, closed) as JsonObject)).toEqual(placesIn(object));
      }),
    );
  });
});

/** Without limits on the number of members, which count unknown members. */
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
