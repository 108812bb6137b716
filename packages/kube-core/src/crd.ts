import { err, ok, pathOf, ROOT_PATH, type Result, type Violation } from "@oaas/foundation";
import type { GroupVersionKind, GroupVersionResource } from "./gvk.ts";
import type { Condition, KubeObject } from "./object-meta.ts";

/** One version of a custom resource, as far as clients need it. */
export interface CrdVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly deprecated?: boolean;
  readonly deprecationWarning?: string;
  readonly schema?: { readonly openAPIV3Schema?: object };
  readonly subresources?: {
    readonly status?: object;
    readonly scale?: {
      readonly specReplicasPath: string;
      readonly statusReplicasPath: string;
      readonly labelSelectorPath?: string;
    };
  };
  readonly additionalPrinterColumns?: readonly PrinterColumn[];
  readonly selectableFields?: readonly { readonly jsonPath: string }[];
}

/** A column that `kubectl get` shows. */
export interface PrinterColumn {
  readonly name: string;
  readonly type: string;
  readonly jsonPath: string;
  readonly format?: string;
  readonly description?: string;
  readonly priority?: number;
}

/** The names of the resource in every form. */
export interface CrdNames {
  readonly plural: string;
  readonly singular?: string;
  readonly kind: string;
  readonly listKind?: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
}

/** `apiextensions.k8s.io/v1` CustomResourceDefinition. */
export interface CustomResourceDefinition extends KubeObject {
  readonly apiVersion: "apiextensions.k8s.io/v1";
  readonly kind: "CustomResourceDefinition";
  readonly spec: {
    readonly group: string;
    readonly names: CrdNames;
    readonly scope: "Namespaced" | "Cluster";
    readonly versions: readonly CrdVersion[];
    readonly conversion?: { readonly strategy: "None" | "Webhook"; readonly webhook?: object };
    readonly preserveUnknownFields?: boolean;
  };
  readonly status?: {
    readonly acceptedNames?: CrdNames;
    readonly storedVersions?: readonly string[];
    readonly conditions?: readonly Condition[];
  };
}

/** The served versions, in the order of the definition. */
export function servedVersions(crd: CustomResourceDefinition): readonly string[] {
  return crd.spec.versions.filter((version) => version.served).map((version) => version.name);
}

/** The storage version; a definition must have exactly one. */
export function storageVersion(crd: CustomResourceDefinition): Result<string, Violation> {
  const [only, ...more] = crd.spec.versions.filter((version) => version.storage);
  if (only !== undefined && more.length === 0) return ok(only.name);
  return err({
    path: pathOf(ROOT_PATH, "spec", "versions"),
    message: `has ${only === undefined ? "no" : more.length + 1} storage versions`,
    fix: "set storage: true on exactly one version",
  });
}

/** The kind of the definition in one of its versions. */
export function crdKind(crd: CustomResourceDefinition, version: string): GroupVersionKind {
  return { group: crd.spec.group, version, kind: crd.spec.names.kind };
}

/** The resource of the definition in one of its versions. */
export function crdResource(crd: CustomResourceDefinition, version: string): GroupVersionResource {
  return { group: crd.spec.group, version, resource: crd.spec.names.plural };
}

/** Whether the server serves the resource: the names are accepted and the endpoint is up. */
export function isEstablished(crd: CustomResourceDefinition): boolean {
  return crd.status?.conditions?.some(({ type, status }) => type === "Established" && status === "True") ?? false;
}
