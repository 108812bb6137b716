import { roleAggregation } from "./access/role-aggregation.ts";
import type { ServerController } from "./cluster-objects.ts";
import { garbageController } from "./garbage/garbage-collector.ts";
import { ControlLoop, type LoopPorts } from "./loop/control-loop.ts";
import { namespaces, type NamespaceOptions } from "./namespaces/namespace-controller.ts";

/**
 * What acts by itself in the server.
 *
 * Reading order: cluster-objects (what controllers see of the server), loop/decision and loop/controller (a controller is a function
 * from objects and the time to steps), loop/control-loop (who carries them out), then one folder per duty: garbage, namespaces, access, and
 * of the simulation nodes, scheduler, pods, workloads, cron, network, volumes, scaling, knative; failures has what goes wrong on command.
 */
export { workloadSimulation, type SimulationOptions, type WorkloadSimulation } from "./simulation.ts";
export type { LoopPorts, LoopProblem } from "./loop/control-loop.ts";
export type { NamespaceOptions } from "./namespaces/namespace-controller.ts";

/** Deletes what nobody owns any more. */
export function garbageCollector(ports: LoopPorts): ServerController {
  return new ControlLoop("garbage-collector", [garbageController()], ports);
}

/** Gives namespaces what each has, and empties those that are deleted. */
export function namespaceController(ports: LoopPorts, options: NamespaceOptions = {}): ServerController {
  return new ControlLoop("namespaces", [namespaces(options)], ports);
}

/** Keeps the rules of roles that gather others. */
export function roleAggregator(ports: LoopPorts): ServerController {
  return new ControlLoop("role-aggregation", [roleAggregation()], ports);
}
