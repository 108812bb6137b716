import { useQuery } from "@tanstack/react-query";
import { fetchValue } from "../../api/client.ts";
import { curl, kubectl, oaas } from "../../lib/commands.ts";
import { percent } from "../../lib/format.ts";
import { m } from "../../messages/en.ts";
import { SelectFilter } from "../../ui/filters.tsx";
import { ObjectLink } from "../../ui/object-link.tsx";
import { PageHeader, Panel, Table } from "../../ui/page.tsx";
import { Empty, Loaded } from "../../ui/states.tsx";
import { Status } from "../../ui/status.tsx";
import { Time } from "../../ui/time.tsx";
import { useUrlState } from "../../ui/use-url.ts";

const text = m.clusters;

export default function ClusterListPage() {
  const clusters = useQuery({
    queryKey: ["clusters"],
    queryFn: ({ signal }) => fetchValue("listClusters", { signal }),
  });
  const [read, write] = useUrlState();
  const status = read("status");
  return (
    <>
      <PageHeader
        title={m.nav.clusters}
        commands={[oaas("get clusters"), kubectl("get nodes"), curl(location.origin, "/api/v1/clusters")]}
      />
      <div className="no-print mb-3">
        <SelectFilter
          label={m.terms.state}
          value={status}
          options={[
            ...new Set([
              ...(clusters.data ?? []).map(({ health }) => health.status),
              ...(status === "" ? [] : [status]),
            ]),
          ].map((each) => [each, m.states(each)] as const)}
          onChange={(next) => write({ status: next })}
        />
      </div>
      <Panel flush>
        <Loaded query={clusters}>
          {(list) => {
            const rows = list.filter(({ health }) => status === "" || health.status === status);
            if (rows.length === 0)
              return list.length === 0 ? (
                <Empty title={text.none} text={text.noneText} />
              ) : (
                <Empty title={m.common.noMatch} />
              );
            return (
              <Table
                label={m.nav.clusters}
                rows={rows}
                keyOf={({ name }) => name}
                columns={[
                  {
                    title: m.terms.cluster,
                    cell: ({ name }) => <ObjectLink list="clusters" name={name} />,
                  },
                  {
                    title: m.terms.state,
                    cell: ({ health: { status: state, error } }) => (
                      <span title={error}>
                        <Status state={state} label={m.states(state)} />
                      </span>
                    ),
                  },
                  {
                    title: text.nodesTitle,
                    numeric: true,
                    cell: ({ health }) =>
                      health.node_count == null ? "–" : `${health.ready_nodes ?? "?"} / ${health.node_count}`,
                  },
                  {
                    title: text.availability,
                    numeric: true,
                    cell: ({ health }) => (health.availability == null ? "–" : percent(health.availability)),
                  },
                  {
                    title: text.source,
                    wide: true,
                    cell: ({ health }) => <span className="text-ink-2">{health.availability_source ?? "–"}</span>,
                  },
                  { title: text.version, wide: true, cell: ({ health }) => health.crm_version ?? "–" },
                  { title: text.lastSeen, wide: true, cell: ({ health }) => <Time at={health.last_seen} /> },
                ]}
              />
            );
          }}
        </Loaded>
      </Panel>
    </>
  );
}
