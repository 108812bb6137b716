import { GROUP, type ClassRuntime, type ClassRuntimeStatus, type DeploymentRecord } from "@oaas/contracts/crd";
import type { Result, Violation } from "@oaas/foundation";
import type { KubeObject, Stored } from "@oaas/kube-core";
import type { ResourceType } from "@oaas/kube-runtime";
import { classStatusToRecordStatus } from "../../mapping/record/deployment-record.ts";
import { readClassRuntime, readDeploymentRecord } from "../../mapping/record/read-class-runtime.ts";
import { CLASS_RUNTIMES, DEPLOYMENT_RECORDS } from "./resource-types.ts";

/** Blocks the deletion of a class object until its children are deleted. */
export const FINALIZER = "oaas.io/class-runtime";

/** A kind of object that describes a class. Both kinds go the same way; only reading and the words of status differ. */
export interface SubjectKind<T extends KubeObject = KubeObject> {
  readonly name: string;
  readonly type: ResourceType<T>;
  readonly owner: { readonly group: string; readonly kind: string };
  /** Whether the manager works on when it may not read this kind. */
  readonly mayBeRefused: boolean;
  /** The object as a class runtime; violations when it cannot be read as one. */
  read(object: Stored<T>): Result<ClassRuntime, readonly Violation[]>;
  /** Its status, in the words of the class runtime. */
  statusOf(object: Stored<T>): ClassRuntimeStatus | undefined;
  /** A status in this kind's own words. */
  statusFor(status: ClassRuntimeStatus): object;
}

export const CLASS_RUNTIME_SUBJECT: SubjectKind<ClassRuntime & KubeObject> = {
  name: "class-runtime",
  type: CLASS_RUNTIMES,
  owner: { group: GROUP, kind: "ClassRuntime" },
  mayBeRefused: false,
  // Our own status is half of the object, and nobody wants it read again.
  read: ({ apiVersion, kind, metadata, spec }) => readClassRuntime({ apiVersion, kind, metadata, spec }),
  statusOf: (object) => object.status,
  statusFor: (status) => status,
};

export const DEPLOYMENT_RECORD_SUBJECT: SubjectKind<DeploymentRecord & KubeObject> = {
  name: "deployment-record",
  type: DEPLOYMENT_RECORDS,
  owner: { group: GROUP, kind: "DeploymentRecord" },
  mayBeRefused: true,
  read: (object) => readDeploymentRecord(object),
  statusOf: (object) => {
    if (!object.status) return undefined;
    const { function_container_status: _, ...status } = object.status;
    return status;
  },
  statusFor: classStatusToRecordStatus,
};
