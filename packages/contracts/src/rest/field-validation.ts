import type { Violation } from "@oaas/foundation";
import { z } from "zod";
import { INPUT_COMPONENTS } from "./openapi/components.ts";
import { fieldsOf } from "./reading/members.ts";
import { findUnknownFields } from "./reading/unknown-fields.ts";

/**
 * How a write treats fields and query parameters that the API does not have, as `fieldValidation` of Kubernetes: reject
 * the request, report them in `Warning` headers, or drop them.
 */
export const FIELD_VALIDATIONS = ["strict", "warn", "ignore"] as const;
export type FieldValidation = (typeof FIELD_VALIDATIONS)[number];

/** The query parameter of every write; strict is the default. */
export const FIELD_VALIDATION_PARAMETER = "field_validation";

const FROM_RESPONSE = "Set by the package manager; accepted so that a response can be sent back.";
const AUGUST_2025 = "Sent by clients of August 2025; has no effect.";

const SERVER_FIELDS = {
  health: FROM_RESPONSE,
  condition: FROM_RESPONSE,
  status: FROM_RESPONSE,
  created_at: FROM_RESPONSE,
  updated_at: FROM_RESPONSE,
};

/**
 * Fields that requests may contain and that are ignored, by component, with the reason. Every other unknown field is
 * rejected. Add a field here when a client that is in use sends it.
 */
export const TOLERATED_FIELDS = {
  OClassDeploymentInput: {
    ...SERVER_FIELDS,
    plan_digest: "Has an effect only when the deployment is applied by itself.",
  },
  DeploymentRequest: SERVER_FIELDS,
  OFunctionInput: { immutable: AUGUST_2025, qos_requirement: AUGUST_2025, qos_constraint: AUGUST_2025 },
  FunctionMetadataInput: { parameters: AUGUST_2025, return_type: AUGUST_2025 },
  QosRequirementInput: { latency: AUGUST_2025 },
  OdgmDataSpecInput: { features: "Set in packages written for the earlier implementation; has no effect." },
} as const satisfies Partial<Record<keyof typeof INPUT_COMPONENTS, Readonly<Record<string, string>>>>;

const byMembers = new Map<object | undefined, ReadonlySet<string>>(
  Object.entries(TOLERATED_FIELDS).map(([component, fields]) => [
    fieldsOf(INPUT_COMPONENTS[component as keyof typeof TOLERATED_FIELDS]).members,
    new Set(Object.keys(fields)),
  ]),
);

/** The fields of a request document that neither its schema nor the list of tolerated fields contains. */
export function unknownFields(schema: z.ZodType, document: unknown): readonly Violation[] {
  return findUnknownFields(schema, document, (members) => byMembers.get(members));
}

const ofQueries = new Map<z.ZodType | undefined, z.ZodType>();

/** The parameters of a query that its route does not have. */
export function unknownParameters(query: z.ZodType | undefined, sent: object): readonly Violation[] {
  let known = ofQueries.get(query);
  if (known === undefined) {
    const declared = query === undefined ? {} : fieldsOf(query).members;
    known = z.object({ ...declared, [FIELD_VALIDATION_PARAMETER]: z.string() });
    ofQueries.set(query, known);
  }
  return findUnknownFields(known, sent, () => undefined, "query parameter");
}
