import { GROUP, KINDS, VERSION, type ClassRuntime, type CustomResourceDefinition } from "@oaas/contracts/crd";
import type { KubeObject } from "@oaas/kube-core";
import { resourceType, type ResourceType } from "@oaas/kube-runtime";

/** Definitions of kinds. */
export const DEFINITIONS = resourceType<CustomResourceDefinition & KubeObject>({
  group: "apiextensions.k8s.io",
  version: "v1",
  kind: "CustomResourceDefinition",
  resource: "customresourcedefinitions",
  namespaced: false,
});

/** Our kinds as the API serves them. */
export const OUR_KINDS: readonly ResourceType<KubeObject>[] = KINDS.map(({ kind, plural }) =>
  resourceType({ group: GROUP, version: VERSION, kind, resource: plural, namespaced: true }),
);

/** Classes. */
export const CLASS_RUNTIMES = resourceType<ClassRuntime & KubeObject>({
  group: GROUP,
  version: VERSION,
  kind: "ClassRuntime",
  resource: "classruntimes",
  namespaced: true,
});
