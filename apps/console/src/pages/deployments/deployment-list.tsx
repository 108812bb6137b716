import { Plus } from "lucide-react";
import { useCallback } from "react";
import { Link } from "wouter";
import { call } from "../../api/client.ts";
import type { Deployment } from "../../api/contract.ts";
import { useCan } from "../../api/session.ts";
import { curl, oaas } from "../../lib/commands.ts";
import { percent } from "../../lib/format.ts";
import { m } from "../../messages/en.ts";
import { Button, LinkButton } from "../../ui/button.tsx";
import { LinkedFilters, SelectFilter, TextFilter } from "../../ui/filters.tsx";
import { PageHeader, Panel } from "../../ui/page.tsx";
import { Empty } from "../../ui/states.tsx";
import { Status } from "../../ui/status.tsx";
import { Time } from "../../ui/time.tsx";
import { useUrlState } from "../../ui/use-url.ts";
import { VirtualTable, type Column } from "../../ui/virtual-table.tsx";

const CONDITIONS = ["Running", "Deploying", "Degraded", "Down", "Pending", "Unknown"] as const;
export const FILTERS = ["filter", "condition", "package_name", "target_cluster"] as const;

const COLUMNS: readonly Column<Deployment>[] = [
  {
    id: "key",
    title: m.terms.deployment,
    sort: "key",
    width: "minmax(0,2fr)",
    cell: ({ key }) => (
      <Link href={hrefOf({ key })} className="font-medium hover:underline">
        {key}
      </Link>
    ),
  },
  {
    id: "condition",
    title: m.terms.condition,
    sort: "condition",
    width: "minmax(7rem,1fr)",
    cell: (row) => <Status state={row.health ?? row.condition} label={m.states(row.health ?? row.condition)} />,
  },
  {
    id: "class",
    title: m.terms.class,
    sort: "class_key",
    width: "minmax(0,1.5fr)",
    wide: true,
    cell: (row) => <span className="text-ink-2">{`${row.package_name}.${row.class_key}`}</span>,
  },
  {
    id: "clusters",
    title: m.terms.clusters,
    width: "minmax(0,1.5fr)",
    wide: true,
    cell: ({ status, target_clusters: targets }) => (
      <span className="text-ink-2">{(status?.selected_envs ?? targets ?? []).join(", ")}</span>
    ),
  },
  {
    id: "replicas",
    title: m.terms.replicas,
    width: "5rem",
    wide: true,
    cell: ({ status }) => <span className="num">{status?.replication_factor ?? "–"}</span>,
  },
  {
    id: "availability",
    title: m.terms.plannedAvailability,
    width: "7rem",
    wide: true,
    cell: ({ status }) => (
      <span className="num">
        {status?.achieved_quorum_availability == null ? "–" : percent(status.achieved_quorum_availability)}
      </span>
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

function hrefOf({ key }: Pick<Deployment, "key">): string {
  return `/deployments/${encodeURIComponent(key)}`;
}

export default function DeploymentListPage() {
  const [read, write] = useUrlState();
  const canDeploy = useCan("deployer");
  const filters = Object.fromEntries(FILTERS.map((name) => [name, read(name)])) as Readonly<
    Record<(typeof FILTERS)[number], string>
  >;
  const sort = read("sort", "key");
  const filtered = FILTERS.some((name) => filters[name] !== "");
  const query = { ...filters, sort };
  const onFilter = useCallback((filter: string) => write({ filter }, true), [write]);
  const search = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== "")).toString();
  return (
    <>
      <PageHeader
        title={m.nav.deployments}
        commands={[oaas("get deployments"), curl(location.origin, `/api/v1/deployments?${search}`)]}
        actions={
          canDeploy && (
            <LinkButton href="/plan" variant="primary" icon={Plus}>
              {m.deployments.create}
            </LinkButton>
          )
        }
      />
      <div className="no-print mb-3 flex flex-wrap items-center gap-2">
        <TextFilter label={m.deployments.filter} value={filters.filter} onChange={onFilter} />
        <SelectFilter
          label={m.terms.condition}
          value={filters.condition}
          options={CONDITIONS.map((state) => [state, m.states(state)] as const)}
          onChange={(condition) => write({ condition })}
        />
        <LinkedFilters
          names={["package_name", "target_cluster"]}
          values={filters}
          onRemove={(name) => write({ [name]: "" })}
        />
      </div>
      <Panel flush>
        <VirtualTable
          label={m.nav.deployments}
          queryKey={["deployments", query]}
          fetchPage={async (offset, limit, signal) => {
            const { value, total } = await call("listDeployments", { query: { ...query, offset, limit }, signal });
            return { rows: value, total };
          }}
          columns={COLUMNS}
          keyOf={({ key }) => key}
          hrefOf={hrefOf}
          sort={sort}
          onSort={(next) => write({ sort: next })}
          empty={
            filtered ? (
              <Empty title={m.common.noMatch}>
                <Button onClick={() => write(Object.fromEntries(FILTERS.map((name) => [name, ""])))}>
                  {m.common.clearFilters}
                </Button>
              </Empty>
            ) : (
              <Empty title={m.deployments.none} text={m.deployments.noneText}>
                {canDeploy && (
                  <LinkButton href="/plan" variant="primary">
                    {m.deployments.create}
                  </LinkButton>
                )}
              </Empty>
            )
          }
        />
      </Panel>
    </>
  );
}
