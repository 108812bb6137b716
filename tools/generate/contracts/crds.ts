import { crdManifest, GROUP, KINDS } from "@oaas/contracts/crd";
import { stringify } from "yaml";
import type { Generator } from "../generator.ts";

const FOLDER = "deploy/crds";
const HEADER = "# Generated from packages/contracts/src/crd by `npm run crdgen`. Do not edit.\n";

/** The CRDs as files, one per kind. */
export const generator: Generator = {
  name: "crds",
  owns: [FOLDER],
  async produce() {
    return new Map(KINDS.map((kind) => [`${FOLDER}/${kind.plural}.${GROUP}.yaml`, crdFile(kind)]));
  },
};

/**
 * The CRD of one kind as YAML. Long lines are not wrapped, to keep diffs small. Kubernetes reads YAML 1.1, in which a
 * bare `off` is false; writing 1.1 quotes such words.
 */
export function crdFile(kind: (typeof KINDS)[number]): string {
  return HEADER + stringify(crdManifest(kind), { version: "1.1", lineWidth: 0, aliasDuplicateObjects: false });
}
