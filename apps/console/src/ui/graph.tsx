import { lazy, Suspense } from "react";
import type { Graph as GraphData } from "../lib/graph.ts";
import { Loading } from "./states.tsx";

const Flow = lazy(() => import("./flow.tsx"));

/** A graph with links; it loads when it is shown. */
export function Graph({
  graph,
  label,
  height,
}: {
  readonly graph: GraphData;
  readonly label: string;
  readonly height: string;
}) {
  return (
    <Suspense fallback={<Loading rows={8} />}>
      <Flow graph={graph} label={label} height={height} />
    </Suspense>
  );
}
