import {
  crdManifest,
  GROUP,
  KINDS,
  VERSION,
  type ClassRuntime,
  type CustomResourceDefinition,
} from "@oaas/contracts/crd";
import { isFault, sleep, unavailable, type Ambient } from "@oaas/foundation";
import type { KubeObject } from "@oaas/kube-core";
import { resourceType, type KubeClient, type ResourceType } from "@oaas/kube-runtime";

export const CRDS = resourceType<CustomResourceDefinition & KubeObject>({
  group: "apiextensions.k8s.io",
  version: "v1",
  kind: "CustomResourceDefinition",
  resource: "customresourcedefinitions",
  namespaced: false,
});

export const OAAS_RESOURCES: readonly ResourceType<KubeObject>[] = KINDS.map(({ kind, plural }) =>
  resourceType({ group: GROUP, version: VERSION, kind, resource: plural, namespaced: true }),
);

export const CLASS_RUNTIMES = resourceType<ClassRuntime & KubeObject>({
  group: GROUP,
  version: VERSION,
  kind: "ClassRuntime",
  resource: "classruntimes",
  namespaced: true,
});

/** Field manager of our CRDs. */
export const CRD_FIELD_MANAGER = "oaas-local-stack";
const POLL_MS = 50;
const TIMEOUT_MS = 30_000;

/** Installs or updates our CRDs and waits until each is served. */
export async function installCrds(client: KubeClient, ambient: Ambient): Promise<void> {
  const definitions = client.resource(CRDS);
  await Promise.all(
    KINDS.map((kind) => definitions.apply(crdManifest(kind), { fieldManager: CRD_FIELD_MANAGER, force: true })),
  );
  const endsAt = ambient.clock.monotonic() + TIMEOUT_MS;
  for (const type of OAAS_RESOURCES) {
    while (!(await isServed(client, type))) {
      if (ambient.clock.monotonic() > endsAt) throw unavailable(type.kind, `the cluster does not serve ${type.kind}`);
      await sleep(ambient.timers, POLL_MS);
    }
  }
}

async function isServed(client: KubeClient, type: (typeof OAAS_RESOURCES)[number]): Promise<boolean> {
  try {
    await client.resource(type).list({ limit: 1 });
    return true;
  } catch (thrown) {
    if (isFault(thrown, "not-found")) return false;
    throw thrown;
  }
}
