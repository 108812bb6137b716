import type { ClassRuntimeStatus } from "@oaas/contracts/crd";
import { Fault } from "@oaas/foundation";
import { keyOf, type KubeObject, type ObjectRef, refOf, type Stored } from "@oaas/kube-core";
import { classEnforcement, type ClassEnforcement } from "../../enforcement/class-enforcement.ts";
import { enforceableValues, type EnforceableValue } from "../../enforcement/enforceable-values.ts";
import { planPodResizes } from "../../enforcement/pod-resizes.ts";
import type { Pod } from "../../lifecycle/observation/observed-objects.ts";
import { ownerLabelValue, type RenderedFunction } from "../../templates/index.ts";
import { tryResize } from "../children/resize-pods.ts";
import type { ReconcileDeps } from "./reconcile-deps.ts";
import { environmentOfClass, renderDesired, type DesiredChildren } from "./render-desired.ts";

/** Owner of the status fields of the enforcer. */
export const ENFORCER_FIELD_MANAGER = "oprc-crm-enforcer";

/** A class as the enforcer sees it. */
export interface EnforceableClass {
  readonly uid: string;
  readonly namespace: string;
  readonly generation: number;
  readonly regarding: ObjectRef;
  readonly status: ClassRuntimeStatus | undefined;
  readonly enforcement: ClassEnforcement;
  /** Function keys of the class and `odgm`: their states are kept, also while a workload is missing. */
  readonly components: ReadonlySet<string>;
  /** The values of the workloads that exist. */
  readonly values: readonly EnforceableValue[];
  /** Renders the class with other states, and returns the problems, such as an exceeded quota. */
  findProblems(states: NonNullable<ClassRuntimeStatus["enforcement_state"]>): readonly string[];
  /**
   * Asks the server whether the pods of a component can be resized with other states, without resizing them. Returns the
   * reason when they cannot.
   */
  findResizeProblem(
    states: NonNullable<ClassRuntimeStatus["enforcement_state"]>,
    component: string,
    signal: AbortSignal,
  ): Promise<string | undefined>;
  /** Writes the status fields of the enforcer. Returns false when the object was changed or deleted meanwhile. */
  writeStatus(status: ClassRuntimeStatus, signal: AbortSignal): Promise<boolean>;
}

/** Undefined for a class that cannot be rendered, which has a condition of the lifecycle. */
export function enforceableClass<T extends KubeObject>(
  object: Stored<T>,
  deps: ReconcileDeps<T>,
): EnforceableClass | undefined {
  const read = deps.classKind.read(object);
  if (!read.ok) return undefined;
  const { uid, namespace = "", generation = 0, annotations } = object.metadata;
  const status = deps.classKind.statusOf(object);
  const facts = deps.facts(namespace);
  const level = facts.enforcement ?? "off";
  const canResize = facts.capabilities.podResize;
  const enforcement = classEnforcement(read.value.spec, annotations, level, environmentOfClass(object, deps));
  const { expected } = renderDesired(object, deps, "check");
  const values =
    expected === undefined || enforcement.mode === "off"
      ? []
      : enforceableValues({
          spec: read.value.spec,
          functions: expected.functions,
          children: deps.children.childrenOf(uid).map((child) => child.object),
          pods: podsOfClass(object, deps),
          canResize,
          hasOdgm: expected.odgm !== undefined,
          enforcement,
        });
  const renderWith = (states: NonNullable<ClassRuntimeStatus["enforcement_state"]>): DesiredChildren => {
    const changed = deps.classKind.encodeStatus({ ...status, enforcement_state: states });
    return renderDesired({ ...object, status: changed }, deps, "check");
  };
  return {
    uid,
    namespace,
    generation,
    regarding: refOf(object),
    status,
    enforcement,
    components: new Set(["odgm", ...(read.value.spec.functions ?? []).map(({ function_key: key }) => key)]),
    values,
    findProblems: (states) => renderWith(states).problems.map(({ message }) => message),
    findResizeProblem: async (states, component, signal) => {
      const functions: readonly RenderedFunction[] = renderWith(states).expected?.functions ?? [];
      const resized = functions.filter(({ functionKey }) => functionKey === component);
      // All pods have the same template: one stands for all.
      const [first] = planPodResizes(resized, podsOfClass(object, deps));
      return first && (await tryResize(deps.client, first, signal, true))?.message;
    },
    writeStatus: (fields, signal) => writeEnforcerStatus(object, fields, signal, deps),
  };
}

function podsOfClass<T extends KubeObject>({ metadata }: Stored<T>, { pods }: ReconcileDeps<T>): readonly Pod[] {
  return pods.podsOf(metadata.namespace ?? "", ownerLabelValue(metadata.name));
}

async function writeEnforcerStatus<T extends KubeObject>(
  object: Stored<T>,
  fields: ClassRuntimeStatus,
  signal: AbortSignal,
  { client, classKind, informer }: ReconcileDeps<T>,
): Promise<boolean> {
  // The analyzer may have written the status in the same tick.
  const newest = informer.get(keyOf(object));
  if (newest === undefined || newest.metadata.uid !== object.metadata.uid) return false;
  const { apiVersion, kind } = object;
  const { name, namespace, resourceVersion } = newest.metadata;
  const manifest = {
    apiVersion,
    kind,
    // With the version: another class may have this name now. A conflict is resolved by the next tick.
    metadata: { name, resourceVersion, ...(namespace === undefined ? {} : { namespace }) },
    status: classKind.encodeStatus(fields),
  };
  try {
    await client.resource(classKind.type).apply(manifest as unknown as T, {
      fieldManager: ENFORCER_FIELD_MANAGER,
      force: true,
      subresource: "status",
      signal,
    });
    return true;
  } catch (thrown) {
    const fault = Fault.from(thrown);
    if (fault.kind === "conflict" || fault.kind === "not-found") return false;
    throw fault;
  }
}
