import { Minus, Plus } from "lucide-react";
import { percent } from "../../lib/format.ts";
import { m } from "../../messages/en.ts";
import { ObjectLink } from "../../ui/object-link.tsx";
import { Panel, Table } from "../../ui/page.tsx";
import { Status } from "../../ui/status.tsx";

export interface Candidate {
  readonly cluster: string;
  readonly chosen: boolean;
  readonly availability: number | null;
  readonly reasons_for: readonly string[];
  readonly reasons_against: readonly string[];
}

/** Every cluster that was considered, with the reasons for and against it. */
export function Candidates({
  clusters,
  replicas = {},
}: {
  readonly clusters: readonly Candidate[];
  readonly replicas?: Readonly<Record<string, number>>;
}) {
  return (
    <Panel title={m.plan.clusters} flush>
      <Table
        label={m.plan.clusters}
        rows={clusters}
        keyOf={({ cluster }) => cluster}
        columns={[
          {
            title: m.terms.cluster,
            cell: ({ cluster }) => <ObjectLink list="clusters" name={cluster} />,
          },
          {
            title: m.plan.chosen,
            cell: ({ chosen }) => (
              <Status
                state={chosen ? "met" : "idle"}
                tone={chosen ? "ok" : "idle"}
                label={chosen ? m.plan.selected : m.plan.notSelected}
              />
            ),
          },
          {
            title: m.clusters.availability,
            numeric: true,
            cell: ({ availability }) => (availability === null ? "–" : percent(availability)),
          },
          { title: m.terms.replicas, numeric: true, cell: ({ cluster }) => replicas[cluster] ?? 0 },
          {
            title: m.plan.reasons,
            cell: ({ reasons_for: reasonsFor, reasons_against: against }) => (
              <ul className="min-w-40 space-y-0.5 text-sm break-words">
                {reasonsFor.map((reason) => (
                  <li key={reason} className="flex gap-1.5">
                    <Plus size={12} className="mt-1 shrink-0 text-ok" aria-label={m.plan.for} /> {reason}
                  </li>
                ))}
                {against.map((reason) => (
                  <li key={reason} className="flex gap-1.5">
                    <Minus size={12} className="mt-1 shrink-0 text-bad" aria-label={m.plan.against} /> {reason}
                  </li>
                ))}
              </ul>
            ),
          },
        ]}
      />
    </Panel>
  );
}
