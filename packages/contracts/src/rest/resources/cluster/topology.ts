import { timestamp } from "@oaas/foundation";
import { TopologyNodeType, type Topology } from "@oaas/models";
import { z } from "zod";
import { view } from "../../reading/fields.ts";

const metadata = z.record(z.string(), z.string()).readonly();

export const topologyNodeView = view(
  {
    id: z.string(),
    node_type: z.enum(TopologyNodeType),
    status: z.string(),
    metadata,
    deployed_classes: z.array(z.string()).readonly(),
  },
  {
    id: "Node id, unique in this snapshot.",
    node_type: "Node type.",
    status: "Node status.",
    metadata: "Further attributes, by name.",
    deployed_classes: "Classes deployed on the node.",
  },
);

export const topologyEdgeView = view(
  { from_id: z.string(), to_id: z.string(), metadata },
  { from_id: "Id of the source node.", to_id: "Id of the target node.", metadata: "Further attributes, by name." },
);

/** A point in time in the protobuf form. */
export const topologyTimeView = view(
  { seconds: z.int().min(0).max(253_402_300_799), nanos: z.int().min(0).max(999_999_999) },
  { seconds: "Seconds since the Unix epoch.", nanos: "Nanoseconds within the second." },
);

/** The topology. Its timestamp is the only one in the protobuf form. */
export const topologyView = view(
  {
    nodes: z.array(topologyNodeView),
    edges: z.array(topologyEdgeView),
    timestamp: topologyTimeView.nullable(),
  },
  { nodes: "Nodes.", edges: "Edges.", timestamp: "Time of the snapshot." },
);

/** Converts a topology to JSON. */
export function topologyToWire(topology: Topology): z.output<typeof topologyView> {
  const at = Date.parse(topology.timestamp);
  return {
    nodes: topology.nodes.map((node) => ({
      id: node.id,
      node_type: node.nodeType,
      status: node.status,
      metadata: node.metadata,
      deployed_classes: node.deployedClasses,
    })),
    edges: topology.edges.map((edge) => ({ from_id: edge.from, to_id: edge.to, metadata: edge.metadata })),
    timestamp: Number.isNaN(at) ? null : { seconds: Math.floor(at / 1000), nanos: (at % 1000) * 1_000_000 },
  };
}

/** Converts a response to a topology. */
export function topologyFromWire(wire: z.output<typeof topologyView>): Topology {
  return {
    nodes: wire.nodes.map((node) => ({
      id: node.id,
      nodeType: node.node_type,
      status: node.status,
      metadata: node.metadata,
      deployedClasses: node.deployed_classes,
    })),
    edges: wire.edges.map((edge) => ({ from: edge.from_id, to: edge.to_id, metadata: edge.metadata })),
    timestamp: timestamp((wire.timestamp?.seconds ?? 0) * 1000 + (wire.timestamp?.nanos ?? 0) / 1_000_000),
  };
}
