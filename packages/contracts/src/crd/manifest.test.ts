import { POD_SETTINGS } from "@oaas/models";
import { describe, expect, test } from "vitest";
import { KINDS } from "./kinds.ts";
import { crdManifest, rootSchema } from "./manifest.ts";
import type { StructuralSchema } from "./structural-keywords.ts";

function* fields(schema: StructuralSchema, path: string): Generator<[path: string, schema: StructuralSchema]> {
  yield [path, schema];
  for (const [name, member] of Object.entries(schema.properties ?? {})) yield* fields(member, `${path}.${name}`);
  if (schema.items) yield* fields(schema.items, `${path}[]`);
  if (schema.additionalProperties) yield* fields(schema.additionalProperties, `${path}{}`);
}

describe.each(KINDS)("$kind", (definition) => {
  const manifest = crdManifest(definition);
  const all = [...fields(rootSchema(definition), "")].filter(([path]) => /^\.(spec|status)/.test(path));

  test("has consistent names", () => {
    expect(manifest).toMatchObject({
      metadata: { name: `${definition.plural}.oaas.io` },
      spec: {
        group: "oaas.io",
        scope: "Namespaced",
        names: { kind: definition.kind, singular: definition.kind.toLowerCase(), categories: ["oaas"] },
        versions: [{ name: "v1alpha1", served: true, storage: true, subresources: { status: {} } }],
      },
    });
  });

  test("fits into the last-applied annotation of kubectl", () => {
    expect(JSON.stringify(manifest).length).toBeLessThan(262_144);
  });

  test("describes every field", () => {
    const silent = all.filter(([path, { description }]) => /\.\w+$/.test(path) && !description).map(([path]) => path);
    expect(silent).toEqual([]);
  });

  test("limits every string, list and map of the spec, to bound the cost of CEL rules", () => {
    const endless = all
      .filter(([path]) => path.startsWith(".spec"))
      .filter(
        ([, { type, enum: words, maxLength, maxItems, additionalProperties, maxProperties, format }]) =>
          (type === "string" && words === undefined && maxLength === undefined && format === undefined) ||
          (type === "array" && maxItems === undefined) ||
          (additionalProperties !== undefined && maxProperties === undefined),
      );
    expect(endless.map(([path]) => path)).toEqual([]);
  });

  test("uses snake_case except for fields taken from Kubernetes", () => {
    const KUBERNETES = new Set([
      "apiVersion",
      "claimName",
      "configMap",
      "emptyDir",
      "imagePullSecrets",
      "lastTransitionTime",
      "mountPath",
      "nodeSelector",
      "observedGeneration",
      "persistentVolumeClaim",
      "priorityClassName",
      "readOnly",
      "secretName",
      "serviceAccountName",
      "sizeLimit",
      "storageClassName",
      "subPath",
      "tolerationSeconds",
    ]);
    // The members of pod settings are declared with the names of a pod spec.
    const pod = new RegExp(`provision_config\\.(${POD_SETTINGS.join("|")})\\b`);
    const own = all.filter(([path]) => !pod.test(path));
    const camel = new Set(own.flatMap(([path]) => /\.([a-z]+[A-Z]\w*)$/.exec(path)?.[1] ?? []));
    expect([...camel].filter((name) => !KUBERNETES.has(name))).toEqual([]);
  });

  test("has printer columns of existing fields", () => {
    const paths = new Set(all.map(([path]) => path));
    for (const { jsonPath } of definition.columns) {
      expect(paths).toContain(jsonPath.replace(/\[\?.*?\]/, "[]"));
    }
  });
});
