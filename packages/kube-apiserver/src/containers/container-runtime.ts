import type { Stored } from "@oaas/kube-core";
import type { ClusterObjects } from "../controllers/cluster-objects.ts";
import type { Container, Pod } from "../controllers/objects/typed.ts";
import type { ContainerRequest, ContainerResponse } from "./container-server.ts";

/** The state of the current run of a container that a runtime runs. */
export type ContainerRun =
  | { readonly kind: "starting" }
  | { readonly kind: "ready" }
  | { readonly kind: "exited"; readonly exitCode: number };

/** Runs some containers as real programs; all others are simulated. */
export interface ContainerRuntime {
  /** The state of a container; undefined for a simulated one. A run is named by the restart count of its container. */
  stateOf(pod: Stored<Pod>, container: Container): ContainerRun | undefined;
  /** Answers a request to a container that it runs; may reject. */
  serve(request: ContainerRequest): Promise<ContainerResponse>;
  /** Follows the pods of a cluster. */
  start(host: RuntimeHost): void;
  /** Stops every program. */
  stop(): void;
}

/** What a runtime needs of the cluster. */
export interface RuntimeHost {
  readonly objects: Pick<ClusterObjects, "list" | "onChange">;
  /** The state of a container of this pod changed. */
  changed(pod: Stored<Pod>): void;
  /** Adds output to a run of a container. */
  append(pod: Stored<Pod>, container: string, run: number, text: string): void;
}
