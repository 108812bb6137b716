import type { StructuralSchema } from "./structural-keywords.ts";
import { structuralSchema } from "./structural-schema.ts";
import { allowNullMembers } from "./null-members.ts";
import { GROUP, MAX_NAME_LENGTH, VERSION, type kubernetesObject } from "./v1alpha1/object.ts";

/** A column of `kubectl get`. */
export interface PrinterColumn {
  readonly name: string;
  readonly type: "string" | "integer" | "number" | "boolean" | "date";
  readonly jsonPath: string;
  readonly description: string;
  /** 0: always shown; 1: with `-o wide`. */
  readonly priority?: number;
}

/** A kind: names, schema and printer columns. */
export interface KindDefinition {
  readonly kind: string;
  readonly plural: string;
  readonly shortNames: readonly string[];
  readonly description: string;
  readonly columns: readonly PrinterColumn[];
  readonly schema: ReturnType<typeof kubernetesObject>;
}

/** A CustomResourceDefinition of apiextensions.k8s.io/v1. */
export interface CustomResourceDefinition {
  readonly apiVersion: "apiextensions.k8s.io/v1";
  readonly kind: "CustomResourceDefinition";
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
  readonly spec: {
    readonly group: string;
    readonly scope: "Namespaced";
    readonly names: {
      readonly kind: string;
      readonly listKind: string;
      readonly plural: string;
      readonly singular: string;
      readonly shortNames: readonly string[];
      readonly categories: readonly string[];
    };
    readonly versions: readonly {
      readonly name: string;
      readonly served: true;
      readonly storage: true;
      readonly subresources: { readonly status: Record<string, never> };
      readonly additionalPrinterColumns: readonly PrinterColumn[];
      readonly schema: { readonly openAPIV3Schema: StructuralSchema };
    }[];
  };
}

const AGE: PrinterColumn = {
  name: "Age",
  type: "date",
  jsonPath: ".metadata.creationTimestamp",
  description: "Time since creation.",
};

/** The CRD of a kind. Deterministic. */
export function crdManifest(definition: KindDefinition): CustomResourceDefinition {
  const { kind, plural, shortNames, columns } = definition;
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${GROUP}`, labels: { "app.kubernetes.io/part-of": "oaas" } },
    spec: {
      group: GROUP,
      scope: "Namespaced",
      names: { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase(), shortNames, categories: ["oaas"] },
      versions: [
        {
          name: VERSION,
          served: true,
          storage: true,
          subresources: { status: {} },
          additionalPrinterColumns: [...columns, AGE],
          schema: { openAPIV3Schema: rootSchema(definition) },
        },
      ],
    },
  };
}

/** The schema of the object. A CRD can restrict only the name in metadata. */
export function rootSchema({ schema, description }: KindDefinition): StructuralSchema {
  const { spec, status } = schema.shape;
  return {
    description,
    type: "object",
    required: ["spec"],
    properties: {
      apiVersion: { description: "Group and version of this kind.", type: "string" },
      kind: { description: "Kind of the object.", type: "string" },
      metadata: { type: "object", properties: { name: { type: "string", maxLength: MAX_NAME_LENGTH } } },
      spec: { description: "Desired state.", ...allowNullMembers(structuralSchema(spec.out)) },
      status: {
        description: "Observed state, written by the class runtime manager.",
        ...allowNullMembers(structuralSchema(status.unwrap().out)),
      },
    },
  };
}
