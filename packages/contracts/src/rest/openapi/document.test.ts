import { readFileSync } from "node:fs";
import { invalidArgument } from "@oaas/foundation";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { BODY_EXAMPLES } from "./body-examples.ts";
import { INPUT_COMPONENTS, VIEW_COMPONENTS } from "./components.ts";
import { faultToProblem } from "../faults/problem.ts";
import { openApiDocument } from "./document.ts";
import { allRoutes } from "../routes/table.ts";
import { classDeploymentFromWire } from "../resources/deployment/class-deployment.ts";
import { packageFromWire, packageToWire } from "../resources/package/package.ts";
import { pathParameters } from "../routes/route.ts";
import { readBy } from "../reading/violations.ts";

type Json = Record<string, unknown>;

const document = JSON.parse(JSON.stringify(openApiDocument("1.0.0"))) as {
  paths: Record<string, Record<string, Json & { operationId: string; responses: Record<string, Json> }>>;
  components: { schemas: Record<string, Json> };
};
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation, id: operation.operationId })),
);

function resolved(node: Json): Json {
  const ref = node["$ref"];
  if (typeof ref !== "string") return node;
  const target = ref
    .slice(2)
    .split("/")
    .reduce<unknown>((at, key) => (at as Json | undefined)?.[key], document);
  if (target === undefined) throw new Error(`${ref} leads nowhere`);
  return target as Json;
}

function* nodesOf(value: unknown): Generator<Json> {
  if (Array.isArray(value)) for (const item of value) yield* nodesOf(item);
  else if (typeof value === "object" && value !== null) {
    yield value as Json;
    for (const member of Object.values(value)) yield* nodesOf(member);
  }
}

describe("the document", () => {
  test("has no dangling references", () => {
    for (const node of nodesOf(document)) resolved(node);
  });

  test("contains exactly the implemented routes", () => {
    const offered = allRoutes().filter((route) => route.offered !== false);
    expect(operations.map(({ id, method, path }) => `${id} ${method.toUpperCase()} ${path}`).sort()).toEqual(
      offered.map((route) => `${route.operationId} ${route.method} ${route.path}`).sort(),
    );
    expect(new Set(operations.map(({ id }) => id)).size).toBe(operations.length);
  });

  test.each(operations)("$id: every success has a body or none, and errors are problems", (at) => {
    const { responses } = at.operation;
    expect(Object.keys(responses)).toContain("default");
    for (const [status, response] of Object.entries(responses)) {
      const { content, description } = resolved(response) as { content?: Record<string, Json>; description?: string };
      expect(description).toBeTruthy();
      if (["204", "302", "304"].includes(status)) expect(content).toBeUndefined();
      else for (const media of Object.values(content!)) expect(media["schema"]).toBeDefined();
      if (status === "default" || (Number(status) >= 400 && response["$ref"] !== undefined)) {
        expect(Object.keys(content!)).toEqual(["application/problem+json"]);
      }
    }
  });

  test.each(operations)("$id: has the parameters of its path, each once", ({ path, operation }) => {
    const parameters = (operation["parameters"] as Json[]).map(resolved);
    expect(parameters.filter((one) => one["in"] === "path").map((one) => one["name"])).toEqual(pathParameters(path));
    const names = parameters.map((one) => `${String(one["in"])} ${String(one["name"])}`);
    expect(new Set(names).size).toBe(names.length);
    for (const parameter of parameters) expect(parameter["schema"]).toBeDefined();
  });

  test("uses JSON Schema keywords and requires described fields only", () => {
    const types = new Set(["string", "number", "integer", "boolean", "object", "array", "null"]);
    for (const schema of Object.values(document.components.schemas)) {
      for (const node of nodesOf(schema)) {
        const { type, required, properties } = node as { type?: unknown; required?: unknown; properties?: Json };
        // A member may be called `type` as well; then it is a schema, not a word.
        for (const word of [type].flat()) if (typeof word === "string") expect(types).toContain(word);
        if (Array.isArray(required)) expect(Object.keys(properties ?? {})).toEqual(expect.arrayContaining(required));
      }
    }
  });

  test("describes every element", () => {
    const isDocumented = (node: Json) =>
      typeof node["description"] === "string" && /^[A-Z`].*[.…]$/s.test(node["description"]);
    const members = [...nodesOf(document)].flatMap((node) =>
      // Where `properties` is itself the name of a member, it is a schema and has no schemas in it.
      Object.entries((node["type"] === "object" ? (node["properties"] ?? {}) : {}) as Record<string, Json>),
    );
    expect(members.length).toBeGreaterThan(300);
    expect(members.filter(([, member]) => !isDocumented(member)).map(([name]) => name)).toEqual([]);
    const { components, tags } = document as unknown as {
      components: Record<string, Record<string, Json>>;
      tags: Json[];
    };
    const parts = Object.entries(components).flatMap(([kind, named]) =>
      Object.entries(named).map(([name, part]) => [`${kind} ${name}`, part] as const),
    );
    const parameters = operations.flatMap(({ id, operation }) =>
      (operation["parameters"] as Json[]).map((one) => [`${id} ${String(one["name"])}`, resolved(one)] as const),
    );
    const bodies = operations.flatMap(({ id, operation }) => {
      const { requestBody: body, responses } = operation as { requestBody?: Json; responses: Record<string, Json> };
      return [...(body === undefined ? [] : [body]), ...Object.values(responses)].map(
        (one) => [`${id} body`, resolved(one)] as const,
      );
    });
    const documented = [
      ...parts,
      ...parameters,
      ...bodies,
      ...operations.map(({ id, operation }) => [id, operation] as const),
      ...tags.map((tag) => [`tag ${String(tag["name"])}`, tag] as const),
    ];
    expect(documented.filter(([, part]) => !isDocumented(part)).map(([name]) => name)).toEqual([]);
    expect(JSON.stringify(document)).not.toContain("x-descriptions");
  });

  test("describes fields separately when they share a schema", () => {
    const { Cluster, FunctionMetadataInput, OPackageInput } = document.components.schemas;
    expect(OPackageInput).toMatchObject({
      properties: { name: { description: "Unique name of the package.", maxLength: 63 } },
    });
    expect(Cluster).toMatchObject({
      properties: { health: { $ref: "#/components/schemas/ClusterHealth", description: "Health of the cluster." } },
    });
    expect(FunctionMetadataInput).toMatchObject({
      properties: { description: { description: "Deprecated location of `description`." } },
    });
  });

  test("is deterministic", () => {
    expect(JSON.stringify(openApiDocument("1.0.0"))).toBe(JSON.stringify(openApiDocument("1.0.0")));
  });
});

describe("required fields are reported when absent", () => {
  const objects = Object.entries({ ...INPUT_COMPONENTS, ...VIEW_COMPONENTS })
    .map(([name, schema]) => ({ name, shape: shapeOf(schema) }))
    .filter(({ shape }) => shape !== undefined);

  test.each(objects)("$name", ({ name, shape }) => {
    const missed = Object.entries(shape!)
      .filter(([, member]) => !(member as z.ZodType).safeParse(undefined).success)
      .map(([member]) => member);
    expect(document.components.schemas[name]?.["required"] ?? []).toEqual(missed);
  });

  /** The object inside what wraps it: reading first, turning into the domain's type last. */
  function shapeOf(schema: unknown): z.ZodRawShape | undefined {
    if (schema instanceof z.ZodObject) return schema.shape;
    if (!(schema instanceof z.ZodPipe)) return undefined;
    return shapeOf(schema.def.in) ?? shapeOf(schema.def.out);
  }
});

/** As much of JSON Schema as the document uses; an independent reading of it, to hold real documents against. */
function objections(schema: Json, value: unknown, at = "$"): string[] {
  if (schema["$ref"] !== undefined) return objections(resolved(schema), value, at);
  const anyOf = schema["anyOf"] as Json[] | undefined;
  if (anyOf?.every((option) => objections(option, value, at).length > 0)) return [`${at}: none of anyOf`];
  if (schema["type"] !== undefined && ![schema["type"]].flat().some((type) => isOf(type as string, value))) {
    return [`${at}: not ${JSON.stringify(schema["type"])}`];
  }
  const found: string[] = [];
  const allowed = schema["enum"] as unknown[] | undefined;
  if (allowed && !allowed.includes(value)) found.push(`${at}: not in enum`);
  if ("const" in schema && schema["const"] !== value) found.push(`${at}: not the constant`);
  if (typeof value === "number") {
    if (value < ((schema["minimum"] as number | undefined) ?? -Infinity)) found.push(`${at}: below minimum`);
    if (value > ((schema["maximum"] as number | undefined) ?? Infinity)) found.push(`${at}: above maximum`);
  }
  if (typeof value === "string") {
    if (schema["pattern"] !== undefined && !new RegExp(schema["pattern"] as string, "u").test(value)) {
      found.push(`${at}: not of the pattern`);
    }
    if (value.length > ((schema["maxLength"] as number | undefined) ?? Infinity)) found.push(`${at}: too long`);
  }
  if (Array.isArray(value) && schema["items"] !== undefined) {
    found.push(...value.flatMap((item, index) => objections(schema["items"] as Json, item, `${at}[${index}]`)));
  } else if (typeof value === "object" && value !== null) {
    const members = (schema["properties"] ?? {}) as Record<string, Json>;
    for (const name of (schema["required"] ?? []) as string[])
      if (!(name in value)) found.push(`${at}.${name}: missing`);
    for (const [name, member] of Object.entries(value)) {
      const of = members[name] ?? schema["additionalProperties"];
      if (of === false) found.push(`${at}.${name}: not allowed`);
      else if (typeof of === "object") found.push(...objections(of as Json, member, `${at}.${name}`));
    }
  }
  return found;
}

function isOf(type: string, value: unknown): boolean {
  if (type === "null") return value === null;
  if (type === "array") return Array.isArray(value);
  if (type === "integer") return Number.isInteger(value);
  if (type === "object") return typeof value === "object" && value !== null && !Array.isArray(value);
  return typeof value === type;
}

describe("real documents", () => {
  const schema = (name: string) => document.components.schemas[name]!;
  const sample = (name: string): unknown =>
    JSON.parse(readFileSync(new URL(`../testdata/${name}`, import.meta.url), "utf8"));

  test.each(["september-2025.package.json", "august-2025.package.json"])("%s is a valid request", (name) => {
    expect(objections(schema("OPackageInput"), sample(name))).toEqual([]);
    const read = packageFromWire(sample(name));
    expect(read.ok && objections(schema("OPackage"), packageToWire(read.value))).toEqual([]);
  });

  test("responses of the earlier implementation match the response schemas", () => {
    expect(objections(schema("OClassDeployment"), sample("upstream.deployment.json"))).toEqual([]);
    expect(objections(schema("ApiClassRuntime"), sample("upstream.class-runtime.json"))).toEqual([]);
  });

  test("a problem matches its schema", () => {
    const problem = faultToProblem(invalidArgument("package", [{ path: "$", message: "is empty" }]));
    expect(objections(schema("Problem"), problem)).toEqual([]);
  });

  test.each([
    [{ key: "d", class_key: "C", package_name: "" }, []],
    [{ key: "d", class_key: "C", package_name: "a b" }, ["$.package_name: none of anyOf"]],
    [{ key: "d", class_key: 5 }, ['$.class_key: not "string"']],
  ])("%j: schema and reader agree", (value, expected) => {
    expect(objections(schema("OClassDeploymentInput"), value)).toEqual(expected);
    expect(classDeploymentFromWire(value).ok).toBe(expected.length === 0);
  });

  test("invalid documents do not match", () => {
    expect(objections(schema("OPackageInput"), { name: "a b", classes: [{}], functions: 5 })).toEqual([
      "$.name: not of the pattern",
      "$.classes: none of anyOf",
      "$.functions: none of anyOf",
    ]);
  });
});

describe("examples", () => {
  test.each(Object.entries(BODY_EXAMPLES))("%s accepts its example, which is in the document", (id, example) => {
    const route = allRoutes().find(({ operationId }) => operationId === id);
    if (route?.body === undefined) return expect.unreachable(`${id} takes no body`);
    expect(readBy(route.body, example)).toMatchObject({ ok: true });
    const operation = operations.find((each) => each.id === id)?.operation;
    return expect(operation?.["requestBody"]).toMatchObject({ content: { "application/json": { example } } });
  });
});

/** The parts of a schema that have no limit, by path. */
function unlimited(schema: Json, path: string, seen: ReadonlySet<unknown> = new Set()): string[] {
  const node = resolved(schema);
  if (seen.has(node)) return [];
  const inside = new Set([...seen, node]);
  const below = (key: string, each: unknown): string[] =>
    typeof each === "object" && each !== null ? unlimited(each as Json, `${path}${key}`, inside) : [];
  const types = new Set([node["type"] ?? []].flat());
  const isText = types.has("string") && !("enum" in node || "const" in node || "format" in node);
  return [
    ...(types.has("array") && !("maxItems" in node) ? [`${path}: maxItems`] : []),
    ...(typeof node["additionalProperties"] === "object" && !("maxProperties" in node)
      ? [`${path}: maxProperties`]
      : []),
    ...(isText && !("maxLength" in node) ? [`${path}: maxLength`] : []),
    ...Object.entries((node["properties"] ?? {}) as Json).flatMap(([name, each]) => below(`.${name}`, each)),
    ...(["anyOf", "oneOf", "allOf"].flatMap((key) => node[key] ?? []) as Json[]).flatMap((each) => below("", each)),
    ...below("[]", node["items"]),
    ...below("{}", node["additionalProperties"]),
  ];
}

test("every list, map and text of a request has a limit", () => {
  const found = operations.flatMap(({ id, operation }) => {
    const body = operation["requestBody"] as { content?: Record<string, { schema: Json }> } | undefined;
    return Object.values(body?.content ?? {}).flatMap(({ schema }) => unlimited(schema, id));
  });
  expect([...new Set(found)]).toEqual([]);
});
