/**
 * Our Kubernetes kinds. Each schema is declared once (`v1alpha1/`, one file per kind); the types below are inferred from
 * it, and the CRDs in `deploy/crds` and `docs/reference/crds.md` are generated from it.
 *
 * Reading order: `kinds.ts` (all kinds), `rule.ts` (rules over several fields, for the server and for our code),
 * `structural-schema.ts` (conversion to the schemas of the API server), `manifest.ts` (the CRD).
 */
export { KINDS, MIN_KUBERNETES_VERSION } from "./kinds.ts";
export {
  crdManifest,
  rootSchema,
  type CustomResourceDefinition,
  type KindDefinition,
  type PrinterColumn,
} from "./manifest.ts";
export { CRD_FIELDS, fieldsOf, type FieldTree } from "./fields.ts";
export type { StructuralSchema, ValidationRule } from "./structural-keywords.ts";
export { structuralFromJson, structuralSchema } from "./structural-schema.ts";
export { MAX_DECISION_RECORD_LENGTH } from "./v1alpha1/nfr.ts";
export { API_VERSION, GROUP, MAX_NAME_LENGTH, VERSION } from "./v1alpha1/object.ts";
export {
  classRuntime,
  type ClassFunction,
  type ClassRuntime,
  type ClassRuntimeInput,
  type ClassRuntimeSpec,
  type ClassRuntimeStatus,
} from "./v1alpha1/class-runtime.ts";
export {
  deploymentRecord,
  type DeploymentRecord,
  type DeploymentRecordInput,
  type DeploymentRecordSpec,
  type DeploymentRecordStatus,
} from "./v1alpha1/deployment-record.ts";
export {
  deploymentTemplate,
  type DeploymentTemplate,
  type DeploymentTemplateInput,
  type DeploymentTemplateSpec,
} from "./v1alpha1/deployment-template.ts";
export {
  ENVIRONMENT_KINDS,
  environmentConfig,
  type EnvironmentConfig,
  type EnvironmentConfigInput,
  type EnvironmentConfigSpec,
} from "./v1alpha1/environment-config.ts";
