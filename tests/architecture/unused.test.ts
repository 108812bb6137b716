import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ConfigSchema } from "@oaas/config";
import { crmConfig } from "../../apps/class-runtime-manager/src/config.ts";
import { devStackConfig } from "../../apps/dev-stack/src/config.ts";
import { pmConfig } from "../../apps/package-manager/src/config.ts";
import { declaredMetrics } from "../../tools/generate/reference/metrics.ts";
import { memberOf, nameOf, nodesIn, textOf, type SyntaxNode } from "../../tools/generate/reference/syntax.ts";
import { LanguageServer, type Reference } from "./language-server.ts";
import { ROOT, sourceFiles } from "./sources.ts";

const server = new LanguageServer();
beforeAll(() => server.start());
afterAll(() => server.stop());

const IS_TEST = /\.test\.ts$|\/test\/|\/testing\//;

/** A constant that declares settings, and its place in the configuration. */
interface Declaration {
  readonly file: string;
  readonly constant: string;
  readonly under: readonly string[];
}

interface Program {
  readonly name: string;
  readonly schema: ConfigSchema<unknown>;
  readonly declarations: readonly Declaration[];
}

const at = (file: string, constant = "variables", ...under: string[]): Declaration => ({ file, constant, under });

const PROGRAMS: readonly Program[] = [
  {
    name: "class runtime manager",
    schema: crmConfig,
    declarations: [at("apps/class-runtime-manager/src/config.ts")],
  },
  {
    name: "package manager",
    schema: pmConfig,
    declarations: [
      at("apps/package-manager/src/config.ts"),
      at("apps/package-manager/src/clusters/configuration/cluster-variables.ts", "clusterVariables", "crm"),
    ],
  },
  { name: "local stack", schema: devStackConfig, declarations: [at("apps/dev-stack/src/config.ts")] },
];

/** Settings that the service shell reads for every program. */
const READ_BY_THE_SHELL = /^(?:log|tracing)\./;

interface DeclaredSetting {
  readonly path: string;
  readonly key: Reference;
}

/** Finds the keys of the settings that a constant declares; groups and families are followed. */
function settingsOf({ file, constant, under }: Declaration, text: string): DeclaredSetting[] {
  const collect = (literal: SyntaxNode, path: readonly string[]): DeclaredSetting[] =>
    (literal["properties"] as readonly SyntaxNode[]).flatMap((property) => {
      if (property.type !== "Property") return [];
      const key = property["key"] as SyntaxNode;
      const value = property["value"] as SyntaxNode;
      const here = [...path, nameOf(key) ?? ""];
      if (value.type === "ObjectExpression") return collect(value, here);
      const [, members] = nameOf(value["callee"]) === "perName" ? (value["arguments"] as readonly SyntaxNode[]) : [];
      if (members !== undefined) return collect(members, here);
      return [{ path: here.join("."), key: { file, offset: Number(key["start"]) } }];
    });
  const declarator = nodesIn(text).find(
    ({ type, id }) => type === "VariableDeclarator" && nameOf(id as SyntaxNode) === constant,
  );
  const value = declarator?.["init"] as SyntaxNode;
  return collect(value.type === "TSAsExpression" ? (value["expression"] as SyntaxNode) : value, under);
}

/** Whether a reference has an effect: tests have none, and neither have the checks of a configuration. */
function hasEffect({ file, offset }: Reference): boolean {
  if (IS_TEST.test(file)) return false;
  return !nodesIn(server.textOf(file)).some(
    ({ type, id, start, end }) =>
      type === "FunctionDeclaration" &&
      /^check[A-Z]/.test(nameOf(id) ?? "") &&
      Number(start) <= offset &&
      offset < Number(end) &&
      file.endsWith("config.ts"),
  );
}

async function unreadSettings(settings: readonly DeclaredSetting[]): Promise<string[]> {
  const unread: string[] = [];
  for (const { path, key } of settings) {
    const references = await server.references(key);
    if (!references.some(hasEffect)) unread.push(path);
  }
  return unread;
}

/** The paths of the settings that a program itself must read. */
function declaredPaths({ variables, families }: ConfigSchema<unknown>): string[] {
  const members = families.flatMap(({ path, at: family }) => [...family.members.keys()].map((key) => [...path, key]));
  return [...variables.map(({ path }) => path), ...members]
    .map((path) => path.join("."))
    .filter((path) => !READ_BY_THE_SHELL.test(path));
}

describe.each(PROGRAMS)("settings of the $name", ({ schema, declarations }) => {
  test("are all read by the program", { timeout: 120_000 }, async () => {
    const declared = new Set(declaredPaths(schema));
    const settings = declarations
      .flatMap((declaration) => settingsOf(declaration, server.open(declaration.file)))
      .filter(({ path }) => declared.has(path));
    expect(new Set(settings.map(({ path }) => path)), "the test does not find every setting").toEqual(declared);
    expect(await unreadSettings(settings)).toEqual([]);
  });
});

test("finds a setting that nothing reads, or only a check", { timeout: 120_000 }, async () => {
  const declaration = at("apps/class-runtime-manager/src/config.ts");
  const original = server.open(declaration.file);
  const changed = original
    .replace("  mockAvailability: env(", '  neverRead: env("OPRC_CRM_NEVER").bool().default(false),\n$&')
    .replace("  limits: {", '  limits: { onlyChecked: env("OPRC_CRM_ONLY").int().default(1),')
    .concat("\nexport function checkOnly({ limits }: CrmConfig): boolean { return limits.onlyChecked > 1; }\n");
  server.open(declaration.file, changed);
  const added = settingsOf(declaration, changed).filter(({ path }) => /neverRead|onlyChecked|mockAvail/.test(path));
  expect(await unreadSettings(added)).toEqual(["limits.onlyChecked", "neverRead"]);
  server.open(declaration.file, original);
});

interface DeclaredMetric {
  readonly name: string;
  /** The property, field or variable that holds the metric. */
  readonly holder: Reference;
}

const METRIC_TYPES = new Set(["counter", "gauge", "histogram"]);
const UPDATE = /^\s*[?!]?\.(?:add|set|observe|series|inc|dec|labels|startTimer)\b/;

/** Finds the metrics that a source declares. Each must have a holder, or nothing could update it. */
function metricsOf(file: string, text: string): DeclaredMetric[] {
  const holders = new Map<unknown, SyntaxNode>();
  return nodesIn(text).flatMap((node) => {
    const [value, holder] = holderOf(node);
    if (holder !== undefined) holders.set(value, holder);
    const name = metricName(node);
    if (name === undefined) return [];
    const found = holders.get(node);
    if (found === undefined) throw new Error(`${file}: ${name} is not held by a property, field or variable`);
    return [{ name, holder: { file, offset: Number(found["start"]) } }];
  });
}

/** The value and the name that a node binds to each other. */
function holderOf(node: SyntaxNode): readonly [value: unknown, holder: SyntaxNode | undefined] {
  switch (node.type) {
    case "Property":
    case "PropertyDefinition":
      return [node["value"], node["key"] as SyntaxNode];
    case "VariableDeclarator":
      return [node["init"], node["id"] as SyntaxNode];
    case "AssignmentExpression":
      return [node["right"], (node["left"] as SyntaxNode)["property"] as SyntaxNode | undefined];
    default:
      return [undefined, undefined];
  }
}

function metricName(node: SyntaxNode): string | undefined {
  if (node.type !== "CallExpression") return undefined;
  const callee = node["callee"] as SyntaxNode;
  const [spec] = node["arguments"] as readonly unknown[];
  if (!METRIC_TYPES.has(nameOf(callee["property"]) ?? "") || memberOf(spec, "help") === undefined) return undefined;
  return textOf(memberOf(spec, "name"));
}

async function metricsWithoutUpdate(metrics: readonly DeclaredMetric[]): Promise<string[]> {
  const idle: string[] = [];
  for (const { name, holder } of metrics) {
    if (!(await isUpdated(holder))) idle.push(name);
  }
  return idle;
}

/** Whether code calls an update method of the metric that a name holds, also after `const { name } = metrics`. */
async function isUpdated(holder: Reference, followDestructuring = true): Promise<boolean> {
  const references = (await server.references(holder)).filter(({ file }) => !IS_TEST.test(file));
  const textAfter = ({ file, offset }: Reference): string =>
    server
      .textOf(file)
      .slice(offset)
      .replace(/^#?\w+/, "");
  if (references.some((reference) => UPDATE.test(textAfter(reference)))) return true;
  if (!followDestructuring) return false;
  for (const reference of references.filter((each) => /^\s*[,}]/.test(textAfter(each)))) {
    server.open(reference.file);
    if (await isUpdated(reference, false)) return true;
  }
  return false;
}

test("every metric is updated somewhere", { timeout: 120_000 }, async () => {
  const files = sourceFiles().filter((file) => !/\.test\.ts$|\/test\/|\/testing\//.test(file));
  const metrics = files
    .filter((file) => server.textOf(file).includes("help:"))
    .flatMap((file) => metricsOf(file, server.open(file)));
  expect(metrics.map(({ name }) => name).toSorted()).toEqual(declaredMetrics(ROOT).map(({ name }) => name));
  expect(await metricsWithoutUpdate(metrics)).toEqual([]);
});

test("finds a metric that nothing updates", { timeout: 120_000 }, async () => {
  const file = "apps/class-runtime-manager/src/telemetry.ts";
  const original = server.open(file);
  const changed = original
    .replace("readonly activeDeployments: Gauge;", "$&\n  readonly idle: Gauge;")
    .replace("activeDeployments: meter.gauge({", 'idle: meter.gauge({ name: "crm_idle", help: "Idle." }),\n    $&');
  server.open(file, changed);
  expect(await metricsWithoutUpdate(metricsOf(file, changed))).toEqual(["crm_idle"]);
  server.open(file, original);
});
