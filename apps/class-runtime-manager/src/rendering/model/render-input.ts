import type { ClassRuntimeSpec } from "@oaas/contracts/crd";
import type { ClusterFacts, Environment } from "./cluster-facts.ts";

/** The object a class is described by; every child names it as its owner. */
export interface Owner {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** Labels of the object, which selection criteria of user templates may ask for. */
  readonly labels?: Readonly<Record<string, string>>;
}

/** All that a template may know. Rendering is a function of it: no clock, no environment variables, no reads. */
export interface RenderInput {
  readonly owner: Owner;
  /** The class. A DeploymentRecord is mapped to this form first. */
  readonly spec: ClassRuntimeSpec;
  readonly environment?: Environment;
  readonly cluster: ClusterFacts;
  /**
   * Child names given earlier, by function key (`status.functions[].service`, or the `oaas.io/function-key` annotation
   * of what is there). A function keeps its name for life, whatever is added, removed or moved around it.
   */
  readonly assignedNames?: ReadonlyMap<string, string>;
}
