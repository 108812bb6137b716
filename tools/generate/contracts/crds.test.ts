import { KINDS, crdManifest } from "@oaas/contracts/crd";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { crdReference } from "../reference/crd.ts";
import { crdFile, generator } from "./crds.ts";

describe("the CRD files", () => {
  test.each(KINDS)("$kind round-trips through YAML 1.1 (Kubernetes) and YAML 1.2", (kind) => {
    const manifest: unknown = JSON.parse(JSON.stringify(crdManifest(kind)));
    expect(parse(crdFile(kind), { version: "1.1" })).toEqual(manifest);
    expect(parse(crdFile(kind), { version: "1.2" })).toEqual(manifest);
  });

  test("are deterministic, one per kind, in the generator's folder", async () => {
    const [first, second] = [await generator.produce("."), await generator.produce(".")];
    expect([...first]).toEqual([...second]);
    expect([...first.keys()]).toEqual([
      ...KINDS.map(({ plural }) => `deploy/crds/${plural}.oaas.io.yaml`),
      "packages/contracts/src/crd/fields.json",
    ]);
  });
});

describe("the reference page", () => {
  const page = crdReference(KINDS);

  test("contains every kind, a field, a default and a rule", () => {
    for (const { kind } of KINDS) expect(page).toContain(`## ${kind}\n`);
    expect(page).toContain("| `function.port` | integer 1…65535 | `8080` | Port the container listens on. |");
    expect(page).toContain("max_scale must not be below min_scale.");
  });

  test("has no dead links", () => {
    const headings = new Set([...page.matchAll(/^#+ (.*)$/gm)].map(([, title = ""]) => title.toLowerCase()));
    for (const [, name] of page.matchAll(/\]\(#(\w+)\)/g)) expect(headings).toContain(name);
  });
});
