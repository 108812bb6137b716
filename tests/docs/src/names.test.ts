import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { openApiDocument } from "../../../packages/contracts/src/rest/openapi/document.ts";
import { allPages, ROOT } from "./pages.ts";

/**
 * Handwritten pages for users. Reference pages are generated, and guides for contributors name identifiers of the code.
 */
const SPANS = [...allPages()]
  .filter(([file]) => /^(?:README\.md|docs\/(?!reference\/|guides\/add-)|examples\/)/.test(file))
  .flatMap(([file, { spans }]) => spans.map(({ text, line }) => ({ text, at: `${file}:${line}` })));

const source = (file: string) => readFileSync(path.join(ROOT, file), "utf8");
const reference = (name: string) => source(`docs/reference/${name}.md`);

/** All words of this form in these texts. */
function wordsIn(texts: readonly string[], form: RegExp): ReadonlySet<string> {
  return new Set(texts.flatMap((text) => text.match(form) ?? []));
}

const SETTING = /\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b/g;
const METRIC = /\b(?:pm|crm|kube|oaas|grpc|http|storage|process|nodejs)_[a-z0-9_]+\b/g;
const ROUTE = /^(?<method>GET|POST|PUT|DELETE) (?<path>\/\S*)$/;

/** Sources that read settings of programs other than the services. */
const READERS = [
  "packages/real-components/src/components/cache/cache.ts",
  "packages/kube-apiserver/test/real-scenarios.test.ts",
  "apps/dev-stack/src/load/load-simulation.ts",
  "deploy/compose/compose.yaml",
  "tools/tasks/images.ts",
];
/** Settings that contain a cluster name, such as `CRM_CLUSTER_<NAME>_URL`. */
const OF_A_CLUSTER = /^CRM_CLUSTER_[A-Z0-9]+_/;
/** Variables read by Node. */
const SYSTEM_SETTINGS = new Set(["NODE_OPTIONS", "MALLOC_ARENA_MAX"]);
/** Routes of the class runtime manager that the package manager does not have. */
const MANAGER_ROUTES = ["GET /healthz"];

describe("names on the pages exist in the code", () => {
  test("settings, variables, fault codes, enum values", () => {
    const known = wordsIn(
      [
        ...["configuration", "errors", "cli", "templates", "placeholders", "crds", "grpc"].map(reference),
        ...READERS.map(source),
        JSON.stringify(openApiDocument("")),
      ],
      SETTING,
    );
    const named = SPANS.flatMap(({ text, at }) => (text.match(SETTING) ?? []).map((name) => ({ name, at })));
    const unknown = named.filter(
      ({ name }) => !known.has(name) && !SYSTEM_SETTINGS.has(name) && !OF_A_CLUSTER.test(name),
    );
    expect(named.length).toBeGreaterThan(50);
    expect(unknown.map(({ name, at }) => `${at}: ${name}`)).toEqual([]);
  });

  test("metrics", () => {
    const known = wordsIn([reference("metrics")], METRIC);
    const named = SPANS.filter(({ text }) => /_(?:total|seconds|state|bytes)(?:\{|$)/.test(text));
    const unknown = named.flatMap(({ text, at }) => (known.has(text.split("{")[0] ?? "") ? [] : [`${at}: ${text}`]));
    expect(named.length).toBeGreaterThan(0);
    expect(unknown).toEqual([]);
  });

  test("routes", () => {
    const { paths } = openApiDocument("");
    const offered = Object.entries(paths).flatMap(([route, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${route.replaceAll(/\{\w+\}/g, "{}")}`),
    );
    const known = new Set([...offered, ...MANAGER_ROUTES]);
    const routes = SPANS.flatMap(({ text, at }) => {
      const groups = ROUTE.exec(text)?.groups;
      return groups === undefined ? [] : [{ at, text, method: groups["method"] ?? "", path: groups["path"] ?? "" }];
    });
    const unknown = routes.filter(({ method, path: route }) => {
      const plain = (route.split("?")[0] ?? "").replaceAll(/\{\w+\}/g, "{}");
      return !["", "/api/v1"].some((base) => known.has(`${method} ${base}${plain}`));
    });
    expect(routes.length).toBeGreaterThan(5);
    expect(unknown.map(({ at, text }) => `${at}: ${text}`)).toEqual([]);
  });
});
