import type { ClassRuntimeSpec } from "@oaas/contracts/crd";
import type { ShardType } from "@oaas/models";
import type { Dimension } from "@oaas/nfr";
import type { ClusterFacts, Environment } from "./cluster-facts.ts";

/** The object that describes a class and owns its children. */
export interface Owner {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** Labels of the object, used by `match_labels` of user templates. */
  readonly labels?: Readonly<Record<string, string>>;
}

/** How the objects of a running class are stored. */
export interface StoredLayout {
  readonly shardType?: ShardType;
  /** Partitions by collection. */
  readonly partitions: ReadonlyMap<string, number>;
}

/** The complete input of rendering: no clock, no environment variables, no reads. */
export interface RenderInput {
  readonly owner: Owner;
  /** The class; a DeploymentRecord is converted first. */
  readonly spec: ClassRuntimeSpec;
  readonly environment?: Environment;
  readonly cluster: ClusterFacts;
  /**
   * Names of existing children by function key, from `status.functions[].service` or the `oaas.io/function-key`
   * annotation. A function keeps its name when other functions are added, removed or reordered.
   */
  readonly assignedNames?: ReadonlyMap<string, string>;
  /** The layout in use. It is kept unless the class states another, because stored objects would be unreachable. */
  readonly storedLayout?: StoredLayout;
  /** Whether enforcement moves the replicas. */
  readonly isEnforced?: boolean;
  /** Values that enforcement chose, by function key: replicas, CPU in millicores, memory in bytes. */
  readonly enforced?: ReadonlyMap<
    string,
    Readonly<Partial<Record<Dimension, number>>> & { readonly targetUtilization?: number }
  >;
}
