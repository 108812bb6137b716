import { readFileSync } from "node:fs";
import path from "node:path";
import { defineConfig, env } from "@oaas/config";
import { expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { rolesTemplate } from "./roles.ts";
import { settingValues } from "./settings.ts";

const ROOT = path.resolve(import.meta.dirname, "..", "..", "..");
const CRM = path.join(ROOT, "deploy", "class-runtime-manager");

const schema = defineConfig({
  title: "example",
  prefixes: [],
  variables: {
    flag: env("FLAG").bool().default(false).doc("A flag."),
    mode: env("MODE").oneOf(["off", "on"]).default("off").doc("A mode."),
    port: env("PORT").port().default(1).doc("A port."),
    count: env("COUNT").int({ min: 1, max: 9 }).default(1).doc("A count."),
    least: env("LEAST").int({ min: 2 }).default(2).doc("A count."),
    share: env("SHARE").float({ max: 1 }).default(1).doc("A share."),
    wait: env("WAIT").duration({ bare: "s" }).default("1s").doc("A time."),
    size: env("SIZE").byteSize().default("1MiB").doc("A size."),
    url: env("URL").url().optional().doc("A URL."),
    names: env("NAMES").list().default([]).doc("Names."),
    pairs: env("PAIRS").keyValues().default({}).doc("Pairs."),
    token: env("TOKEN").string().secret().optional().doc("A token."),
    own: env("OWN").string().optional().doc("Set by the chart."),
  },
});

test("a setting has the schema of its type, a secret setting is a reference, and the chart's own is absent", () => {
  const { settings, secretSettings } = settingValues(schema, ["OWN"]);
  const { properties } = settings.schema as { properties: Record<string, { description: string }> };
  const typed = Object.entries(properties).map(([name, { description, ...type }]) => {
    expect(description).not.toBe("");
    return [name, type];
  });
  const textOr = (other: object) => ({ anyOf: [expect.objectContaining({ type: "string" }), other] });
  expect(Object.fromEntries(typed)).toEqual({
    FLAG: { type: "boolean" },
    MODE: { type: "string", enum: ["off", "on"] },
    PORT: { type: "integer", minimum: 0, maximum: 65_535 },
    COUNT: { type: "integer", minimum: 1, maximum: 9 },
    LEAST: { type: "integer", minimum: 2 },
    SHARE: { type: "number", maximum: 1 },
    WAIT: textOr({ type: "number", minimum: 0 }),
    SIZE: textOr({ type: "integer", minimum: 0 }),
    URL: { type: "string", pattern: "^https?://" },
    NAMES: textOr({ type: "array", items: { type: "string" } }),
    PAIRS: textOr({ type: "object", additionalProperties: { type: "string" } }),
  });
  expect(Object.keys((secretSettings.schema as { properties: object }).properties)).toEqual(["TOKEN"]);
});

test("a setting that the chart sets must be declared by the program", () => {
  expect(() => settingValues(schema, ["OWM"])).toThrow("the chart sets OWM, which example does not declare");
});

/** The rules of a rendered role, without the lines of the template language. */
function rulesIn(yaml: string): unknown[] {
  const plain = yaml.replaceAll(/^ *\{\{-? .*$/gm, "").replaceAll(/\{\{[^}]*\}\}/g, "x");
  return parseAllDocuments(plain).flatMap((document) => (document.toJS() as { rules?: unknown[] } | null)?.rules ?? []);
}

test("the chart has every rule of the Kustomize roles and of their optional components, and no other", () => {
  const inChart = rulesIn(rolesTemplate(ROOT)).map((rule) => JSON.stringify(rule));
  const read = (file: string): string => readFileSync(path.join(CRM, file), "utf8");
  const components = ["create-namespaces", "check-secrets", "invoke", "self-signed-certificates"];
  const inKustomize = [
    ...rulesIn(read("base/roles.yaml")),
    ...rulesIn(read("base/user-roles.yaml")),
    ...components.flatMap((component) => {
      const { patches } = parse(read(`${component}/kustomization.yaml`)) as { patches: { patch?: string }[] };
      return patches.flatMap(({ patch }) =>
        patch === undefined ? [] : (parse(patch) as { value: unknown }[]).map(({ value }) => value),
      );
    }),
  ].map((rule) => JSON.stringify(rule));
  expect(inChart.toSorted()).toEqual(inKustomize.toSorted());
});
