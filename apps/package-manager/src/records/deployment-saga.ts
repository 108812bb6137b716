import type { DeploymentKey, RolloutGate, OperationStatus } from "@oaas/models";
import type { SagaRecord, SagaState } from "../saga-engine/saga.ts";
import type { DesiredRevision } from "./deployment-record.ts";

/** The data of a saga that changes a deployment. */
export interface DeploymentSagaData {
  readonly key: DeploymentKey;
  readonly operation: OperationStatus["kind"];
  /** The revision to roll out; absent for a deletion. */
  readonly target?: DesiredRevision;
  /** The revision to restore when the roll-out is undone; absent for the first one. */
  readonly fallback?: DesiredRevision;
  /** The highest unit revision in use: units are removed, and restored, with it. */
  readonly lastRevision: number;
  /** The namespaces of units by cluster, where they are known; absent in sagas of earlier releases. */
  readonly namespaces?: Readonly<Record<string, string>>;
  readonly gate: RolloutGate;
  readonly by: string;
  readonly correlationId: string;
}

/** Requesters of changes that no user waits for. The names are stored. */
export const BACKGROUND = {
  drift: "keeper",
  replanner: "package-manager/replan",
  drainer: "package-manager/drain",
  turns: "package-manager/restart-turns",
} as const;

/** Whether a user requested the saga; its calls then probe an open circuit breaker. */
export function isExplicit({ by }: Pick<DeploymentSagaData, "by">): boolean {
  return !Object.values<string>(BACKGROUND).includes(by);
}

/** The namespace of the unit in a cluster; undefined where it is unknown. */
export function unitNamespace({ namespaces = {} }: Pick<DeploymentSagaData, "namespaces">, cluster: string) {
  return Object.hasOwn(namespaces, cluster) ? namespaces[cluster] : undefined;
}

const SUBJECT_PREFIX = "deployment/";

/** The subject of a deployment's sagas: the engine runs one saga per subject at a time. */
export function subjectOf(key: DeploymentKey): string {
  return SUBJECT_PREFIX + key;
}

/** The deployment of a saga subject; undefined for the subject of another kind of saga. */
export function keyOfSubject(subject: string): DeploymentKey | undefined {
  return subject.startsWith(SUBJECT_PREFIX) ? (subject.slice(SUBJECT_PREFIX.length) as DeploymentKey) : undefined;
}

const STATES = {
  running: "running",
  undoing: "compensating",
  succeeded: "succeeded",
  failed: "failed",
  undone: "compensated",
  cancelled: "cancelled",
} as const satisfies Record<SagaState, OperationStatus["state"]>;

/** The saga of a deployment in the form of the API. */
export function operationStatus(saga: SagaRecord): OperationStatus {
  const { operation } = saga.data as DeploymentSagaData;
  const failed = saga.steps.find(({ fault }) => fault !== undefined);
  return {
    id: saga.id,
    kind: operation,
    state: STATES[saga.state],
    done: saga.steps.filter(({ state }) => state === "done" || state === "undone").length,
    total: saga.steps.length,
    ...(failed?.fault === undefined ? {} : { message: `${failed.target}: ${failed.fault.message}` }),
  };
}
