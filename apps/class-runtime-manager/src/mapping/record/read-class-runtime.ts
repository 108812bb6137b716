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
 * A ClassRuntime as the API server hands it out, read with defaults, or every field that is wrong with it. The server
 * checks the same schema, but an object may be older than the schema.
 */
export function readClassRuntime(object: unknown): Result<ClassRuntime, readonly Violation[]> {
  const read = classRuntime.safeParse(object, { reportInput: true });
  return read.success ? ok(read.data) : err(schemaViolations(read.error, ROOT_PATH, (path) => path));
}

/** A DeploymentRecord, read in the form the reconciler works on. */
export function readDeploymentRecord(
  object: unknown,
  defaults: RecordDefaults = {},
): Result<ClassRuntime, readonly Violation[]> {
  const read = deploymentRecord.safeParse(object, { reportInput: true });
  if (!read.success) return err(schemaViolations(read.error, ROOT_PATH, (path) => path));
  return deploymentRecordToClassRuntime(read.data, defaults);
}

/** What a DeploymentTemplate says, in one spelling and with defaults. */
export function readTemplateSpec(object: unknown): Result<DeploymentTemplateSpec, readonly Violation[]> {
  const read = deploymentTemplate.safeParse(object, { reportInput: true });
  return read.success ? ok(read.data.spec) : err(schemaViolations(read.error, ROOT_PATH, (path) => path));
}

/** What an EnvironmentConfig says, with defaults. */
export function readEnvironmentSpec(object: unknown): Result<EnvironmentConfigSpec, readonly Violation[]> {
  const read = environmentConfig.safeParse(object, { reportInput: true });
  return read.success ? ok(read.data.spec) : err(schemaViolations(read.error, ROOT_PATH, (path) => path));
}
