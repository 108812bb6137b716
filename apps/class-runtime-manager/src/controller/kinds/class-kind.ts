import { GROUP, type ClassRuntime, type ClassRuntimeStatus, type DeploymentRecord } from "@oaas/contracts/crd";
import type { Result, Violation } from "@oaas/foundation";
import type { KubeObject, Stored } from "@oaas/kube-core";
import type { ResourceType } from "@oaas/kube-runtime";
import { classStatusToRecordStatus } from "../../mapping/record/deployment-record.ts";
import { readClassRuntime, readDeploymentRecord } from "../../mapping/record/read-class-runtime.ts";
import { CLASS_RUNTIMES, DEPLOYMENT_RECORDS } from "./resource-types.ts";

/** Blocks the deletion of a class object until its children are deleted. */
export const FINALIZER = "oaas.io/class-runtime";

/**
 * A kind of object that describes a class. The controllers treat both kinds alike; only parsing and the form of the
 * status differ.
 */
export interface ClassKind<T extends KubeObject = KubeObject> {
  readonly name: string;
  readonly type: ResourceType<T>;
  readonly owner: { readonly group: string; readonly kind: string };
  /** Whether the manager runs without permission to read this kind. */
  readonly isOptional: boolean;
  /** Parses the object as a class runtime. */
  read(object: Stored<T>): Result<ClassRuntime, readonly Violation[]>;
  /** The status in the form of a class runtime. */
  statusOf(object: Stored<T>): ClassRuntimeStatus | undefined;
  /** Converts a status to the form of this kind. */
  encodeStatus(status: ClassRuntimeStatus): object;
}

export const CLASS_RUNTIME_KIND: ClassKind<ClassRuntime & KubeObject> = {
  name: "class-runtime",
  type: CLASS_RUNTIMES,
  owner: { group: GROUP, kind: "ClassRuntime" },
  isOptional: false,
  // Without the status: parsing it would double the cost, and the schema is our own.
  read: ({ apiVersion, kind, metadata, spec }) => readClassRuntime({ apiVersion, kind, metadata, spec }),
  statusOf: (object) => object.status,
  encodeStatus: (status) => status,
};

export const DEPLOYMENT_RECORD_KIND: ClassKind<DeploymentRecord & KubeObject> = {
  name: "deployment-record",
  type: DEPLOYMENT_RECORDS,
  owner: { group: GROUP, kind: "DeploymentRecord" },
  isOptional: true,
  read: (object) => readDeploymentRecord(object),
  statusOf: (object) => {
    if (!object.status) return undefined;
    const { function_container_status: _, ...status } = object.status;
    return status;
  },
  encodeStatus: classStatusToRecordStatus,
};
