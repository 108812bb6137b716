import { useQuery, useQueryClient } from "@tanstack/react-query";
import { CircleSlash, LogOut, Play } from "lucide-react";
import { useState } from "react";
import { call, fetchValue } from "../../api/client.ts";
import type { ClusterRegistration } from "../../api/contract.ts";
import { useCan } from "../../api/session.ts";
import { curl, kubectl, oaas } from "../../lib/commands.ts";
import { number, percent } from "../../lib/format.ts";
import { duration } from "../../lib/time.ts";
import { m } from "../../messages/en.ts";
import { Button } from "../../ui/button.tsx";
import { ConfirmDialog } from "../../ui/dialog.tsx";
import { DataList, PageHeader, Panel } from "../../ui/page.tsx";
import { Loaded } from "../../ui/states.tsx";
import { Notice, Status, Tag } from "../../ui/status.tsx";
import { Time } from "../../ui/time.tsx";
import { useToasts } from "../../ui/toast.tsx";
import { ClusterUsage } from "./cluster-usage.tsx";

const text = m.clusters;
/** A cluster may have thousands of deployments. */
const MAX_REMAINING = 100;

export default function ClusterPage({ params }: { readonly params: Readonly<Record<string, string>> }) {
  const name = params["name"] ?? "";
  const cluster = useQuery({
    queryKey: ["cluster", name, "registration"],
    queryFn: ({ signal }) => fetchValue("getCluster", { path: { name }, signal }),
  });
  const health = cluster.data?.health;
  return (
    <>
      <PageHeader
        title={name}
        crumbs={[{ label: m.nav.clusters, href: "/clusters" }]}
        status={
          health && (
            <>
              <Status soft state={health.status} label={m.states(health.status)} />
              {cluster.data?.cordon && (
                <Status soft state="cordoned" label={cluster.data.cordon.draining ? text.draining : text.cordoned} />
              )}
            </>
          )
        }
        actions={cluster.data && <Actions cluster={cluster.data} />}
        commands={[
          oaas(`get cluster ${name}`),
          kubectl("get nodes,classruntimes -A"),
          curl(location.origin, `/api/v1/clusters/${encodeURIComponent(name)}`),
        ]}
      />
      <Loaded query={cluster}>{(value) => <ClusterContent cluster={value} />}</Loaded>
    </>
  );
}

function ClusterContent({ cluster }: { readonly cluster: ClusterRegistration }) {
  const { name, health, labels, cordon, cost } = cluster;
  return (
    <div className="space-y-4">
      {health?.error !== undefined && <Notice tone="bad" title={health.error} />}
      {cordon && (
        <Notice tone="warn" title={text.cordonedBy(cordon.by)}>
          <Time at={cordon.at} />
          {cordon.reason !== undefined && `: ${cordon.reason}`}
        </Notice>
      )}
      {cordon?.draining && <Drain name={name} />}
      <div className="grid gap-4 lg:grid-cols-2">
        <Panel title={text.about}>
          <DataList
            columns={2}
            items={[
              [
                text.nodesTitle,
                health?.node_count == null
                  ? "–"
                  : m.clusters.nodes(number(health.ready_nodes ?? 0), number(health.node_count)),
              ],
              [text.lastSeen, <Time key="t" at={health?.last_seen} />],
              [text.version, health?.crm_version ?? "–"],
              [
                text.address,
                <code key="u" className="break-all">
                  {cluster.url}
                </code>,
              ],
              [
                text.labels,
                <span key="l" className="flex flex-wrap gap-1">
                  {Object.entries(labels).map(([key, value]) => (
                    <Tag key={key}>{`${key}=${value}`}</Tag>
                  ))}
                </span>,
              ],
              [
                text.timeout,
                cluster.timeout === null ? "–" : `${cluster.timeout} s, ${text.retries(cluster.retry_attempts)}`,
              ],
              [text.namespace, cluster.default_namespace ?? health?.default_namespace ?? "–"],
              [text.price, cost === undefined ? "–" : text.priceOf(cost.cpu_hour, cost.gib_hour, cost.currency)],
            ]}
          />
        </Panel>
        <Availability name={name} />
      </div>
      <ClusterUsage name={name} />
    </div>
  );
}

function Availability({ name }: { readonly name: string }) {
  const availability = useQuery({
    queryKey: ["cluster", name, "availability"],
    queryFn: ({ signal }) => fetchValue("getClusterAvailability", { path: { name }, signal }),
  });
  return (
    <Panel title={text.availability}>
      <Loaded query={availability} rows={4}>
        {({ availability: used, promise, measurement, promise_kept: kept, arithmetic }) => (
          <div className="space-y-4">
            <div className="grid grid-cols-3 gap-4">
              {(
                [
                  [text.promised, promise?.value],
                  [text.measured, measurement?.value],
                  [text.used, used],
                ] as const
              ).map(([title, value]) => (
                <div key={title}>
                  <p className="text-sm text-ink-3">{title}</p>
                  <p className="num text-xl font-semibold">{value == null ? "–" : percent(value)}</p>
                </div>
              ))}
            </div>
            {kept != null && <Status state={kept ? "kept" : "violated"} label={kept ? text.kept : text.broken} />}
            <DataList
              items={[
                [
                  text.arithmetic,
                  <code key="a" className="break-words">
                    {arithmetic}
                  </code>,
                ],
                ...(promise ? ([[text.promiseSource, `${promise.source} (${promise.date})`]] as const) : []),
                [
                  text.evidence,
                  measurement
                    ? text.evidenceOf(measurement.samples, duration(measurement.observed_hours * 3_600_000))
                    : text.noMeasurement,
                ],
              ]}
            />
          </div>
        )}
      </Loaded>
    </Panel>
  );
}

function Drain({ name }: { readonly name: string }) {
  const drain = useQuery({
    queryKey: ["cluster", name, "drain"],
    queryFn: ({ signal }) =>
      fetchValue("getClusterDrain", { path: { name }, query: { max_entries: MAX_REMAINING }, signal }),
    refetchInterval: 3000,
  });
  return (
    <Panel title={text.drainTitle}>
      <Loaded query={drain} rows={2}>
        {({ state, remaining, remaining_count: total = remaining.length }) => (
          <>
            <p>
              <Status state={state} label={m.states(state)} /> {text.remaining(total)}
            </p>
            <ul className="mt-2 space-y-1">
              {remaining.map((unit) => (
                <li key={JSON.stringify(unit)} className="text-ink-2">
                  {Object.values(unit)
                    .filter((value) => typeof value === "string")
                    .join(" · ")}
                </li>
              ))}
            </ul>
          </>
        )}
      </Loaded>
    </Panel>
  );
}

function Actions({ cluster: { name, cordon } }: { readonly cluster: ClusterRegistration }) {
  const [action, setAction] = useState<"cordon" | "drain">();
  const canAdminister = useCan("admin");
  const queries = useQueryClient();
  const { done, failed } = useToasts();
  if (!canAdminister) return null;
  const refresh = async (): Promise<void> => {
    await Promise.all([
      queries.invalidateQueries({ queryKey: ["cluster", name] }),
      queries.invalidateQueries({ queryKey: ["clusters"] }),
    ]);
  };
  const uncordon = async (): Promise<void> => {
    try {
      await call("uncordonCluster", { path: { name } });
      await refresh();
      done(text.uncordoned(name));
    } catch (error) {
      failed(error);
    }
  };
  return (
    <>
      {cordon ? (
        <Button icon={Play} onClick={() => void uncordon()}>
          {text.uncordon}
        </Button>
      ) : (
        <Button icon={CircleSlash} onClick={() => setAction("cordon")}>
          {text.cordon}
        </Button>
      )}
      {!cordon?.draining && (
        <Button icon={LogOut} variant="danger" onClick={() => setAction("drain")}>
          {text.drain}
        </Button>
      )}
      {action === "cordon" && (
        <ConfirmDialog
          title={text.cordonTitle(name)}
          action={text.cordon}
          withReason
          onClose={() => setAction(undefined)}
          onConfirm={async (reason) => {
            await call("cordonCluster", { path: { name }, body: reason === undefined ? {} : { reason } });
            await refresh();
          }}
        >
          <p>{text.cordonText}</p>
        </ConfirmDialog>
      )}
      {action === "drain" && (
        <ConfirmDialog
          title={text.drainAsk(name)}
          action={text.drain}
          typed={name}
          withReason
          onClose={() => setAction(undefined)}
          onConfirm={async (reason) => {
            await call("drainCluster", { path: { name }, body: reason === undefined ? {} : { reason } });
            await refresh();
          }}
        >
          <p>{text.drainText}</p>
        </ConfirmDialog>
      )}
    </>
  );
}
