import { crdManifest, fieldsOf, GROUP, KINDS } from "@oaas/contracts/crd";
import { stringify } from "yaml";
import type { Generator } from "../generator.ts";

const FOLDER = "deploy/crds";
const HEADER = "# Generated from packages/contracts/src/crd by `npm run crdgen`. Do not edit.\n";

const FIELDS = "packages/contracts/src/crd/fields.json";

/** The CRDs as files, one per kind, and the names of their fields. */
export const generator: Generator = {
  name: "crds",
  owns: [FOLDER],
  async produce() {
    const crds = KINDS.map((kind) => [`${FOLDER}/${kind.plural}.${GROUP}.yaml`, crdFile(kind)] as const);
    const fields = Object.fromEntries(KINDS.map((kind) => [kind.kind, fieldsOf(kind)]));
    return new Map([...crds, [FIELDS, `${JSON.stringify(fields, undefined, 2)}\n`]]);
  },
};

/**
 * The CRD of one kind as YAML. Long lines are not wrapped, to keep diffs small. Kubernetes reads YAML 1.1, in which a
 * bare `off` is false; writing 1.1 quotes such words.
 */
export function crdFile(kind: (typeof KINDS)[number]): string {
  return HEADER + stringify(crdManifest(kind), { version: "1.1", lineWidth: 0, aliasDuplicateObjects: false });
}
