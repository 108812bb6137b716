import { graphlib, layout } from "@dagrejs/dagre";
import { Background, Controls, Handle, Position, ReactFlow, type Edge, type Node, type NodeProps } from "@xyflow/react";
import "@xyflow/react/dist/style.css";
import { Box, Braces, Package, Server, type LucideIcon } from "lucide-react";
import { useMemo } from "react";
import { Link } from "wouter";
import type { Graph, GraphNode } from "../lib/graph.ts";
import { m } from "../messages/en.ts";
import { Status } from "./status.tsx";

type FlowNode = Node<{ readonly node: GraphNode }, "box">;

const SIZE = { width: 210, height: 58 };
const ICONS: Readonly<Record<string, LucideIcon>> = {
  package: Package,
  class: Box,
  function: Braces,
  environment: Server,
};

function NodeBox({ data: { node } }: NodeProps<FlowNode>) {
  const Icon = ICONS[node.kind] ?? Box;
  return (
    <div className="flex h-full w-full flex-col justify-center gap-0.5 rounded-lg border border-line-strong bg-surface px-3 text-left shadow-[var(--shadow)]">
      <Handle type="target" position={Position.Left} isConnectable={false} className="opacity-0" />
      <div className="flex items-center gap-1.5">
        <Icon size={14} className="shrink-0 text-ink-3" aria-label={m.topology.kinds(node.kind)} />
        {node.href === undefined ? (
          <span className="truncate font-medium">{node.label}</span>
        ) : (
          <Link href={node.href} className="truncate font-medium hover:underline">
            {node.label}
          </Link>
        )}
        {node.detail !== "" && <span className="num ml-auto text-xs text-ink-2">{node.detail}</span>}
      </div>
      <div className="text-xs">
        <Status state={node.state} label={m.states(node.state)} />
      </div>
      <Handle type="source" position={Position.Right} isConnectable={false} className="opacity-0" />
    </div>
  );
}

const NODE_TYPES = { box: NodeBox };

/** Nodes and edges from left to right, laid out by dagre. */
export default function Flow({
  graph,
  label,
  height,
}: {
  readonly graph: Graph;
  readonly label: string;
  readonly height: string;
}) {
  const { nodes, edges } = useMemo(() => arranged(graph), [graph]);
  return (
    <div style={{ height }} role="group" aria-label={label}>
      <ReactFlow
        nodes={nodes}
        edges={edges}
        nodeTypes={NODE_TYPES}
        fitView
        fitViewOptions={{ maxZoom: 1, padding: 0.06 }}
        minZoom={0.05}
        nodesDraggable={false}
        nodesConnectable={false}
        nodesFocusable={false}
        edgesFocusable={false}
        elementsSelectable={false}
        preventScrolling={false}
        zoomOnScroll={false}
        onlyRenderVisibleElements={nodes.length > 80}
      >
        <Background gap={20} color="var(--line)" />
        <Controls showInteractive={false} />
      </ReactFlow>
    </div>
  );
}

function arranged({ nodes, edges }: Graph): { readonly nodes: FlowNode[]; readonly edges: Edge[] } {
  const drawing = new graphlib.Graph();
  drawing.setGraph({ rankdir: "LR", nodesep: 16, ranksep: 70 });
  drawing.setDefaultEdgeLabel(() => ({}));
  for (const { id } of nodes) drawing.setNode(id, { ...SIZE });
  // Clusters are the last column, behind the functions.
  const last = new Set(nodes.filter(({ kind }) => kind === "environment").map(({ id }) => id));
  for (const { from, to } of edges) drawing.setEdge(from, to, { minlen: last.has(to) ? 2 : 1 });
  layout(drawing);
  return {
    nodes: nodes.map((node) => {
      const { x, y } = drawing.node(node.id) as { x: number; y: number };
      return {
        id: node.id,
        type: "box",
        position: { x: x - SIZE.width / 2, y: y - SIZE.height / 2 },
        data: { node },
        ...SIZE,
      };
    }),
    edges: edges.map(({ from, to }) => ({
      id: `${from} ${to}`,
      source: from,
      target: to,
      style: { stroke: "var(--line-strong)", strokeWidth: 1.25 },
    })),
  };
}
