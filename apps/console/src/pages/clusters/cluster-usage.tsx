import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { fetchValue } from "../../api/client.ts";
import type { ValueOf } from "../../api/contract.ts";
import { bytes, number } from "../../lib/format.ts";
import { m } from "../../messages/en.ts";
import { Panel, Table } from "../../ui/page.tsx";
import { Empty, Loaded } from "../../ui/states.tsx";

const text = m.clusters;
/** A cluster may run thousands of components. */
const MAX_ENTRIES = 100;
const REFRESH_MS = 15_000;

/** What the components in a cluster use now. */
export function ClusterUsage({ name }: { readonly name: string }) {
  const usage = useQuery({
    queryKey: ["cluster", name, "usage"],
    queryFn: ({ signal }) =>
      fetchValue("getClusterUsage", { path: { name }, query: { max_entries: MAX_ENTRIES }, signal }),
    refetchInterval: REFRESH_MS,
  });
  return (
    <Panel title={text.units} flush>
      <Loaded query={usage}>
        {(list) => (list.length === 0 ? <Empty title={text.noUnits} /> : <UsageTable name={name} usage={list} />)}
      </Loaded>
    </Panel>
  );
}

type Usage = ValueOf<"getClusterUsage">;

function UsageTable({ name, usage }: { readonly name: string; readonly usage: Usage }) {
  return (
    <>
      <Table
        label={text.units}
        rows={usage}
        keyOf={({ unit_id: unit, component }) => `${unit}/${component}`}
        columns={[
          {
            title: m.deployment.unit,
            cell: ({ unit_id: unit }) => (
              <Link
                href={`/class-runtimes/${encodeURIComponent(unit)}?cluster=${encodeURIComponent(name)}`}
                className="font-medium break-all hover:underline"
              >
                {unit}
              </Link>
            ),
          },
          { title: text.component, cell: ({ component }) => component },
          { title: text.namespace, cell: ({ namespace }) => namespace, wide: true },
          { title: text.pods, numeric: true, cell: ({ pods }) => pods },
          { title: text.cpu, numeric: true, cell: ({ cpu_millicores: cpu }) => `${number(cpu)} m` },
          { title: text.memory, numeric: true, cell: ({ memory_bytes: memory }) => bytes(memory) },
        ]}
      />
      {usage.length === MAX_ENTRIES && (
        <p className="border-t border-line px-4 py-2 text-sm text-ink-3">{text.busiest(number(MAX_ENTRIES))}</p>
      )}
    </>
  );
}
