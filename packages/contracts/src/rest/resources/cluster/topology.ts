import { timestamp } from "@oaas/foundation";
import { TopologyNodeType, type Topology, type TopologyEdge, type TopologyNode } from "@oaas/models";
import { z } from "zod";
import { field, view } from "../../reading/fields.ts";
import { array, enumeration, map, nested, required, resource, string, type Codec } from "../../reading/resource.ts";

const metadata = required("metadata", "Further attributes, by name.", map(string()));

const topologyNode = resource<TopologyNode>()({
  id: required("id", "Node id, unique in this snapshot.", string()),
  nodeType: required("node_type", "Node type.", enumeration(TopologyNodeType)),
  status: required("status", "Node status.", string()),
  metadata,
  deployedClasses: required("deployed_classes", "Classes deployed on the node.", array(string())),
});
export const topologyNodeView = topologyNode.view;

const topologyEdge = resource<TopologyEdge>()({
  from: required("from_id", "Id of the source node.", string()),
  to: required("to_id", "Id of the target node.", string()),
  metadata,
});
export const topologyEdgeView = topologyEdge.view;

/** A point in time in the protobuf form. */
export const topologyTimeView = view({
  seconds: field("Seconds since the Unix epoch.", z.int().min(0).max(253_402_300_799)),
  nanos: field("Nanoseconds within the second.", z.int().min(0).max(999_999_999)),
});

const topologyTime: Codec<string, z.ZodNullable<typeof topologyTimeView>> = {
  read: topologyTimeView
    .nullable()
    .transform((time) => timestamp((time?.seconds ?? 0) * 1000 + (time?.nanos ?? 0) / 1_000_000)),
  view: topologyTimeView.nullable(),
  write: (time) => {
    const at = Date.parse(time);
    return Number.isNaN(at) ? null : { seconds: Math.floor(at / 1000), nanos: (at % 1000) * 1_000_000 };
  },
};

/** The topology. Its timestamp is the only one in the protobuf form. */
const topology = resource<Topology>()({
  nodes: required("nodes", "Nodes.", array(nested(topologyNode))),
  edges: required("edges", "Edges.", array(nested(topologyEdge))),
  timestamp: required("timestamp", "Time of the snapshot.", topologyTime),
});
/** Reads a topology from a response. */
export const topologyInput = topology.input;
export const topologyView = topology.view;
export const topologyToWire = topology.toJson;
