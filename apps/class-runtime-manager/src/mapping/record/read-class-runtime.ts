import {
  classRuntime,
  deploymentRecord,
  deploymentTemplate,
  environmentConfig,
  type ClassRuntime,
  type DeploymentTemplateSpec,
  type EnvironmentConfigSpec,
} from "@oaas/contracts/crd";
import { err, ok, ROOT_PATH, type Result, type Violation } from "@oaas/foundation";
import { deploymentRecordToClassRuntime, type RecordDefaults } from "./deployment-record.ts";
import { schemaViolations } from "../schema-violations.ts";

/**
 * Parses a ClassRuntime and applies defaults, or returns all violations. The API server validates the same schema, but
 * an object may be older than the schema.
 */
export function readClassRuntime(object: unknown): Result<ClassRuntime, readonly Violation[]> {
  const read = classRuntime.safeParse(object, { reportInput: true });
  return read.success ? ok(read.data) : err(schemaViolations(read.error, ROOT_PATH, (path) => path));
}

/** Parses a DeploymentRecord and converts it to a ClassRuntime. */
export function readDeploymentRecord(
  object: unknown,
  defaults: RecordDefaults = {},
): Result<ClassRuntime, readonly Violation[]> {
  const read = deploymentRecord.safeParse(object, { reportInput: true });
  if (!read.success) return err(schemaViolations(read.error, ROOT_PATH, (path) => path));
  return deploymentRecordToClassRuntime(read.data, defaults);
}

/** Parses the spec of a DeploymentTemplate and applies defaults. */
export function readTemplateSpec(object: unknown): Result<DeploymentTemplateSpec, readonly Violation[]> {
  const read = deploymentTemplate.safeParse(object, { reportInput: true });
  return read.success ? ok(read.data.spec) : err(schemaViolations(read.error, ROOT_PATH, (path) => path));
}

/** Parses the spec of an EnvironmentConfig and applies defaults. */
export function readEnvironmentSpec(object: unknown): Result<EnvironmentConfigSpec, readonly Violation[]> {
  const read = environmentConfig.safeParse(object, { reportInput: true });
  return read.success ? ok(read.data.spec) : err(schemaViolations(read.error, ROOT_PATH, (path) => path));
}
