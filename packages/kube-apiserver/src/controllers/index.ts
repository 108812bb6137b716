import { roleAggregation } from "./access/role-aggregation.ts";
import type { ServerController } from "./cluster-objects.ts";
import { garbageController } from "./garbage/garbage-collector.ts";
import { ControlLoop, type LoopPorts } from "./loop/control-loop.ts";
import { namespaces, type NamespaceOptions } from "./namespaces/namespace-controller.ts";

/**
 * The controllers of the server.
 *
 * Reading order: cluster-objects (the controllers' view of the server), loop/decision and loop/controller (a controller
 * is a function from objects and time to steps), loop/control-loop (which executes them), then one folder per duty:
 * garbage, namespaces, access, and for the simulation nodes, scheduler, pods, workloads, cron, network, volumes,
 * scaling, knative; failures contains fault injection.
 */
export { workloadSimulation, type SimulationOptions, type WorkloadSimulation } from "./simulation.ts";
export type { LoopPorts, LoopProblem } from "./loop/control-loop.ts";
export type { NamespaceOptions } from "./namespaces/namespace-controller.ts";

/** Deletes orphaned dependents. */
export function garbageCollector(ports: LoopPorts): ServerController {
  return new ControlLoop("garbage-collector", [garbageController()], ports);
}

/** Initializes namespaces and empties deleted ones. */
export function namespaceController(ports: LoopPorts, options: NamespaceOptions = {}): ServerController {
  return new ControlLoop("namespaces", [namespaces(options)], ports);
}

/** Maintains the rules of aggregated roles. */
export function roleAggregator(ports: LoopPorts): ServerController {
  return new ControlLoop("role-aggregation", [roleAggregation()], ports);
}
