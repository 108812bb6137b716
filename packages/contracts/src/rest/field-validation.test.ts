import { readFileSync } from "node:fs";
import { countViolations } from "@oaas/foundation";
import { describe, expect, test } from "vitest";
import { TOLERATED_FIELDS, unknownFields, unknownParameters } from "./field-validation.ts";
import { INPUT_COMPONENTS } from "./openapi/components.ts";
import { openApiDocument } from "./openapi/document.ts";
import { fieldsOf } from "./reading/members.ts";
import { documentFromYaml } from "./reading/yaml-document.ts";
import { classDeploymentView, deploymentRequestInput } from "./resources/deployment/class-deployment.ts";
import { planRequestInput } from "./resources/deployment/plan.ts";
import { packageInput, packageView } from "./resources/package/package.ts";
import { ROUTES } from "./routes/table.ts";

type Schema = Parameters<typeof fieldsOf>[0];

/** A document with every field of a schema, at every depth. */
function everyField(schema: Schema, depth = 0): unknown {
  const { members, items } = fieldsOf(schema);
  if (items !== undefined) return [everyField(items, depth + 1)];
  if (members === undefined) return null;
  return Object.fromEntries(Object.entries(members).map(([name, member]) => [name, everyField(member, depth + 1)]));
}

function sample(name: string): unknown {
  const read = documentFromYaml(readFileSync(new URL(`testdata/${name}`, import.meta.url), "utf8"));
  if (!read.ok) throw new Error(JSON.stringify(read.error));
  return read.value;
}

describe("unknown fields", () => {
  test("are found at every depth with the nearest name", () => {
    const content = {
      name: "shop",
      clases: [],
      functions: [
        { key: "f", provision_config: { min_scal: 3 }, config: { ANY_NAME: "x" } },
        { key: "g", provision_config: null, zzzzzzzz: 1 },
      ],
      deployments: [{ key: "d", nfr_requirements: { availabilty: 1 } }],
      __proto__: { toString: "inherited" },
    };
    expect(unknownFields(packageInput, content)).toMatchObject([
      { path: "$.clases", message: "unknown field", fix: "did you mean classes?" },
      { path: "$.functions[0].provision_config.min_scal", fix: "did you mean min_scale?" },
      { path: "$.functions[1].zzzzzzzz", fix: expect.stringContaining("use one of key, ") as string },
      { path: "$.deployments[0].nfr_requirements.availabilty", fix: "did you mean availability?" },
    ]);
  });

  test("include the names of the object prototype", () => {
    const document: unknown = JSON.parse('{"name":"a","__proto__":{},"constructor":1,"hasOwnProperty":2}');
    expect(unknownFields(packageInput, document).map(({ path }) => path)).toEqual([
      "$.__proto__",
      "$.constructor",
      "$.hasOwnProperty",
    ]);
  });

  test("are found in a document inside another one", () => {
    const request = { deployment: { key: "d", clas_key: "C" }, what_if: { package: { nam: "p" } } };
    expect(unknownFields(planRequestInput, request).map(({ path, fix }) => `${path} ${fix}`)).toEqual([
      "$.deployment.clas_key did you mean class_key?",
      "$.what_if.package.nam did you mean name?",
    ]);
  });

  test.each([null, [], "text", 7, [{ x: 1 }]])("are not reported in %j, which the schema rejects", (document) => {
    expect(unknownFields(packageInput, document)).toEqual([]);
  });

  test("are counted beyond the first hundred", () => {
    const document = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`field${index}`, {}]));
    const violations = unknownFields(packageInput, { name: "a", ...document });
    expect(violations).toHaveLength(101);
    expect(countViolations(violations)).toBe(100_000);
    expect(violations.at(-1)).toMatchObject({ omitted: 99_900 });
  });

  test("with long names do not make long responses", () => {
    expect(JSON.stringify(unknownFields(packageInput, { ["x".repeat(1_000_000)]: 1 })).length).toBeLessThan(1000);
  });
});

describe("tolerated fields", () => {
  test.each(["august-2025.package.json", "september-2025.package.json", "counter.package.yaml"])(
    "%s has no unknown field",
    (name) => {
      expect(unknownFields(packageInput, sample(name))).toEqual([]);
    },
  );

  test("a deployment of the earlier implementation has no unknown field", () => {
    expect(unknownFields(deploymentRequestInput, sample("upstream.deployment.json"))).toEqual([]);
  });

  test.each([
    ["package", packageInput, packageView],
    ["deployment", deploymentRequestInput, classDeploymentView],
  ])("every field of a response can be sent back in a %s", (_, input, view) => {
    expect(unknownFields(input, everyField(view))).toEqual([]);
  });

  test.each(Object.entries(TOLERATED_FIELDS))(
    "those of %s have no reader, and no other one is open",
    (name, fields) => {
      const { members } = fieldsOf(INPUT_COMPONENTS[name as keyof typeof TOLERATED_FIELDS]);
      expect(Object.keys(fields).filter((field) => Object.hasOwn(members ?? {}, field))).toEqual([]);
    },
  );

  test("every request object is closed in the OpenAPI document", () => {
    const { schemas } = openApiDocument("1.0.0").components as unknown as {
      readonly schemas: Readonly<Record<string, { readonly additionalProperties?: unknown }>>;
    };
    const open = Object.keys(INPUT_COMPONENTS).filter((name) => schemas[name]?.additionalProperties !== false);
    expect(open).toEqual([]);
  });
});

describe("unknown query parameters", () => {
  test("are found with the nearest name; field_validation belongs to every write", () => {
    const sent = { dry_rum: "true", field_validation: "warn", reason: "x" };
    expect(unknownParameters(ROUTES.createPackage.query, sent)).toEqual([
      { path: "$.dry_rum", message: "unknown query parameter", fix: "did you mean dry_run?" },
    ]);
    expect(unknownParameters(undefined, { x: "1" })).toMatchObject([{ path: "$.x" }]);
  });
});
