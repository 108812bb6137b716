import { crdManifest, KINDS } from "@oaas/contracts/crd";
import { isFault, sleep, unavailable, type Ambient } from "@oaas/foundation";
import type { KubeClient } from "@oaas/kube-runtime";
import { DEFINITIONS, OUR_KINDS } from "./kinds.ts";

/** Who owns the fields of our kinds. */
export const KINDS_MANAGER = "oaas-local-stack";
const POLL_MS = 50;
const SERVED_WITHIN_MS = 30_000;

/** Installs the kinds of this build, over those of an earlier one, and waits until each is served. */
export async function installKinds(client: KubeClient, ambient: Ambient): Promise<void> {
  const definitions = client.resource(DEFINITIONS);
  await Promise.all(
    KINDS.map((kind) => definitions.apply(crdManifest(kind), { fieldManager: KINDS_MANAGER, force: true })),
  );
  const endsAt = ambient.clock.monotonic() + SERVED_WITHIN_MS;
  for (const type of OUR_KINDS) {
    while (!(await isServed(client, type))) {
      if (ambient.clock.monotonic() > endsAt) throw unavailable(type.kind, `the cluster does not serve ${type.kind}`);
      await sleep(ambient.timers, POLL_MS);
    }
  }
}

async function isServed(client: KubeClient, type: (typeof OUR_KINDS)[number]): Promise<boolean> {
  try {
    await client.resource(type).list({ limit: 1 });
    return true;
  } catch (thrown) {
    if (isFault(thrown, "not-found")) return false;
    throw thrown;
  }
}
