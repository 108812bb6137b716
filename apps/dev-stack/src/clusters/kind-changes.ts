import { crdManifest, KINDS } from "@oaas/contracts/crd";
import { equalJson } from "@oaas/foundation";
import type { KubeClient } from "@oaas/kube-runtime";
import { KINDS_MANAGER } from "./install-kinds.ts";
import { DEFINITIONS } from "./kinds.ts";

/** A kind that installing ours would add or change in a cluster. */
export interface KindChange {
  readonly name: string;
  readonly change: "new" | "changed";
}

/** A cluster that is silent for so long is not there. */
const ANSWER_MS = 8_000;

/** What installing our kinds would change, as the cluster itself says; nothing is changed. */
export async function kindChanges(client: KubeClient): Promise<readonly KindChange[]> {
  const definitions = client.resource(DEFINITIONS);
  const found = await Promise.all(
    KINDS.map(async (kind): Promise<KindChange | undefined> => {
      const manifest = crdManifest(kind);
      const { name } = manifest.metadata;
      const present = await definitions.find({ namespace: "", name }, { deadlineMs: ANSWER_MS });
      if (present === undefined) return { name, change: "new" };
      const would = await definitions.apply(manifest, { fieldManager: KINDS_MANAGER, force: true, dryRun: true });
      return equalJson(would.spec, present.spec) ? undefined : { name, change: "changed" };
    }),
  );
  return found.filter((one) => one !== undefined);
}

/** What is asked before anything is installed; empty when there is nothing to ask. */
export function approvalText(changes: ReadonlyMap<string, readonly KindChange[]>): string {
  const lines = [...changes].flatMap(([context, kinds]) =>
    kinds.length === 0
      ? []
      : [`  ${context}`, ...kinds.map(({ name, change }) => `    ${change === "new" ? "+" : "~"} ${name}`)],
  );
  if (lines.length === 0) return "";
  return ["These custom resource definitions would be installed (+ new, ~ changed):", "", ...lines, ""].join("\n");
}
