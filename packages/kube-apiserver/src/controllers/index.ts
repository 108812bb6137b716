import type { KubeObject, Status } from "@oaas/kube-core";
import type { ClusterObjects, ResourceName, ServerController } from "./cluster-objects.ts";
import { quotaRefusalIn } from "./failures/quota.ts";
import { clusterView } from "./objects/cluster-view.ts";
import { garbageController } from "./garbage/garbage-collector.ts";
import { ControlLoop, type LoopPorts } from "./loop/control-loop.ts";
import { namespaces, type NamespaceOptions } from "./namespaces/namespace-controller.ts";

/**
 * What acts by itself in the server.
 *
 * Reading order: cluster-objects (what controllers see of the server), loop/decision and loop/controller (a controller is a function
 * from objects and the time to steps), loop/control-loop (who carries them out), then one folder per duty: garbage, namespaces, and
 * of the simulation nodes, scheduler, pods, workloads, network, volumes, scaling, knative; failures has what goes wrong on command.
 */
export { workloadSimulation, type SimulationOptions, type WorkloadSimulation } from "./simulation.ts";
export {
  ANNOTATIONS as SIMULATION_ANNOTATIONS,
  DEFAULT_FAILURES,
  type Failure,
  type FailureRule,
} from "./failures/failure.ts";
export { evictionRefusal } from "./scaling/budget.ts";
export type { SimulatedNode } from "./nodes/simulated-nodes.ts";
export type { LoopPorts, LoopProblem } from "./loop/control-loop.ts";
export type { NamespaceOptions } from "./namespaces/namespace-controller.ts";

/** The refusal of an object that a quota of its namespace forbids, for admission; undefined when it may be made. */
export function quotaRefusalOf(objects: ClusterObjects, kind: ResourceName, object: KubeObject): Status | undefined {
  return quotaRefusalIn(clusterView(objects), kind, object);
}

/** Deletes what nobody owns any more. */
export function garbageCollector(ports: LoopPorts): ServerController {
  return new ControlLoop("garbage-collector", [garbageController()], ports);
}

/** Gives namespaces what each has, and empties those that are deleted. */
export function namespaceController(ports: LoopPorts, options: NamespaceOptions = {}): ServerController {
  return new ControlLoop("namespaces", [namespaces(options)], ports);
}
