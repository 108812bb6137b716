import { useCallback } from "react";
import { Link } from "wouter";
import { call } from "../../api/client.ts";
import type { ClassRuntimeSummary } from "../../api/contract.ts";
import { curl, kubectl, oaas } from "../../lib/commands.ts";
import { m } from "../../messages/en.ts";
import { Button } from "../../ui/button.tsx";
import { LinkedFilters, SelectFilter, TextFilter } from "../../ui/filters.tsx";
import { PageHeader, Panel } from "../../ui/page.tsx";
import { Empty } from "../../ui/states.tsx";
import { Status } from "../../ui/status.tsx";
import { Time } from "../../ui/time.tsx";
import { useUrlState } from "../../ui/use-url.ts";
import { VirtualTable, type Column } from "../../ui/virtual-table.tsx";

const CONDITIONS = ["Running", "Deploying", "Degraded", "Down", "Pending", "Unknown"] as const;
const FILTERS = ["filter", "status", "cluster", "package_name"] as const;

function hrefOf({ id, cluster_name: cluster }: ClassRuntimeSummary): string {
  return `/class-runtimes/${encodeURIComponent(id)}?cluster=${encodeURIComponent(cluster ?? "")}`;
}

const COLUMNS: readonly Column<ClassRuntimeSummary>[] = [
  {
    id: "id",
    title: m.runtimes.unit,
    sort: "id",
    width: "minmax(0,2fr)",
    cell: (row) => (
      <Link href={hrefOf(row)} className="font-medium hover:underline">
        {row.id}
      </Link>
    ),
  },
  {
    id: "status",
    title: m.terms.condition,
    sort: "status",
    width: "minmax(7rem,1fr)",
    cell: ({ condition }) => <Status state={condition} label={m.states(condition)} />,
  },
  {
    id: "class",
    title: m.terms.class,
    sort: "class_key",
    width: "minmax(0,1.2fr)",
    wide: true,
    cell: ({ class_key: key }) => <span className="text-ink-2">{key}</span>,
  },
  {
    id: "cluster",
    title: m.terms.cluster,
    sort: "cluster",
    width: "minmax(0,1fr)",
    wide: true,
    cell: ({ cluster_name: cluster }) => cluster,
  },
  {
    id: "ready",
    title: m.runtimes.ready,
    width: "6rem",
    wide: true,
    cell: ({ ready_replicas: ready, desired_replicas: desired }) => (
      <span className="num">{`${ready} / ${desired}`}</span>
    ),
  },
  {
    id: "nfr",
    title: m.runtimes.requirements,
    width: "minmax(6rem,0.8fr)",
    wide: true,
    cell: ({ compliance }) =>
      compliance === null ? (
        <span className="text-ink-3">–</span>
      ) : (
        <Status state={compliance} label={m.states(compliance)} />
      ),
  },
  {
    id: "updated",
    title: m.terms.updated,
    sort: "updated_at",
    width: "6rem",
    wide: true,
    cell: ({ updated_at: at }) => <Time at={at} />,
  },
];

export default function RuntimeListPage() {
  const [read, write] = useUrlState();
  const filters = Object.fromEntries(FILTERS.map((name) => [name, read(name)])) as Readonly<
    Record<(typeof FILTERS)[number], string>
  >;
  const sort = read("sort");
  const query = { ...filters, ...(sort !== "" && { sort }) };
  const onFilter = useCallback((filter: string) => write({ filter }, true), [write]);
  return (
    <>
      <PageHeader
        title={m.nav.runtimes}
        commands={[
          oaas("get classruntimes"),
          kubectl("get classruntimes -A"),
          curl(location.origin, "/api/v1/class-runtimes"),
        ]}
      />
      <div className="no-print mb-3 flex flex-wrap items-center gap-2">
        <TextFilter label={m.runtimes.filter} value={filters.filter} onChange={onFilter} />
        <SelectFilter
          label={m.terms.condition}
          value={filters.status}
          options={CONDITIONS.map((state) => [state, m.states(state)] as const)}
          onChange={(status) => write({ status })}
        />
        <LinkedFilters
          names={["cluster", "package_name"]}
          values={filters}
          onRemove={(name) => write({ [name]: "" })}
        />
      </div>
      <Panel flush>
        <VirtualTable
          label={m.nav.runtimes}
          queryKey={["class-runtimes", query]}
          fetchPage={async (offset, limit, signal) => {
            const { value, total } = await call("listClassRuntimeSummaries", {
              query: { ...query, offset, limit },
              signal,
            });
            return { rows: value, total };
          }}
          columns={COLUMNS}
          keyOf={({ id, cluster_name: cluster }) => `${cluster}/${id}`}
          hrefOf={hrefOf}
          sort={sort}
          onSort={(next) => write({ sort: next })}
          empty={
            FILTERS.some((name) => filters[name] !== "") ? (
              <Empty title={m.common.noMatch}>
                <Button onClick={() => write(Object.fromEntries(FILTERS.map((name) => [name, ""])))}>
                  {m.common.clearFilters}
                </Button>
              </Empty>
            ) : (
              <Empty title={m.runtimes.none} text={m.runtimes.noneText} />
            )
          }
        />
      </Panel>
    </>
  );
}
