import type { Controller } from "../loop/controller.ts";
import { create, createDecision, SETTLED } from "../loop/decision.ts";
import { nameOfKey, NODES } from "../objects/resources.ts";
import type { Amounts, Node, Taint, Texts } from "../objects/typed.ts";

/** An initial node. */
export interface SimulatedNode {
  readonly name: string;
  readonly capacity?: Amounts;
  readonly labels?: Texts;
  readonly annotations?: Texts;
  readonly taints?: readonly Taint[];
  readonly zone?: string;
}

const ROOM: Amounts = { cpu: "32", memory: "256Gi", pods: "110" };

/** `node-0`, `node-1` … when only their number is given. */
export function desiredNodes(nodes: number | readonly SimulatedNode[]): readonly SimulatedNode[] {
  return typeof nodes === "number" ? Array.from({ length: nodes }, (_, index) => ({ name: `node-${index}` })) : nodes;
}

/** A Node as its kubelet registers it; the kubelet's report follows. */
export function createNode({ name, capacity, labels, annotations, taints, zone }: SimulatedNode, index: number): Node {
  const room = { ...ROOM, ...capacity };
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name,
      labels: {
        "beta.kubernetes.io/arch": "amd64",
        "beta.kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        ...(zone === undefined ? {} : { "topology.kubernetes.io/zone": zone }),
        ...labels,
      },
      ...(annotations === undefined ? {} : { annotations }),
    },
    spec: {
      podCIDR: `10.244.${index % 256}.0/24`,
      ...(taints === undefined || taints.length === 0 ? {} : { taints }),
    },
    status: { capacity: room, allocatable: room },
  };
}

/** Creates the initial nodes once: a deleted node stays deleted. */
export function registrationController(nodes: readonly SimulatedNode[]): Controller {
  return {
    name: "registration",
    reporter: "kubelet",
    writer: "kubelet",
    watches: [],
    decide(key, { view }) {
      const { name } = nameOfKey(key);
      const index = nodes.findIndex((node) => node.name === name);
      const nodeOptions = nodes[index];
      if (!nodeOptions || view.get(NODES, "", name)) return SETTLED;
      return createDecision([create(NODES, createNode(nodeOptions, index))]);
    },
  };
}
