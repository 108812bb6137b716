import { crdManifest, KINDS } from "@oaas/contracts/crd";
import { equalJson } from "@oaas/foundation";
import type { KubeClient } from "@oaas/kube-runtime";
import { CRD_FIELD_MANAGER, CRDS } from "./install-crds.ts";

/** A CRD that would be added or changed in a cluster. */
export interface CrdChange {
  readonly name: string;
  readonly change: "new" | "changed";
}

const DEADLINE_MS = 8_000;

/** Computes the CRD changes with a dry run on the cluster. */
export async function findCrdChanges(client: KubeClient): Promise<readonly CrdChange[]> {
  const definitions = client.resource(CRDS);
  const found = await Promise.all(
    KINDS.map(async (kind): Promise<CrdChange | undefined> => {
      const manifest = crdManifest(kind);
      const { name } = manifest.metadata;
      const present = await definitions.find({ namespace: "", name }, { deadlineMs: DEADLINE_MS });
      if (present === undefined) return { name, change: "new" };
      const would = await definitions.apply(manifest, { fieldManager: CRD_FIELD_MANAGER, force: true, dryRun: true });
      return equalJson(would.spec, present.spec) ? undefined : { name, change: "changed" };
    }),
  );
  return found.filter((one) => one !== undefined);
}

/** Formats the changes for confirmation; empty without changes. */
export function approvalText(changes: ReadonlyMap<string, readonly CrdChange[]>): string {
  const lines = [...changes].flatMap(([context, kinds]) =>
    kinds.length === 0
      ? []
      : [`  ${context}`, ...kinds.map(({ name, change }) => `    ${change === "new" ? "+" : "~"} ${name}`)],
  );
  if (lines.length === 0) return "";
  return ["These custom resource definitions would be installed (+ new, ~ changed):", "", ...lines, ""].join("\n");
}
