import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import { fetchValue } from "../../api/client.ts";
import type { ClassRuntime } from "../../api/contract.ts";
import { useEvents } from "../../api/feed-context.tsx";
import { ApiError } from "../../api/errors.ts";
import { curl, kubectl, oaas } from "../../lib/commands.ts";
import { explainDecision } from "../../lib/enforcement.ts";
import { number } from "../../lib/format.ts";
import { SampleHistory } from "../../lib/samples.ts";
import { toneOf } from "../../lib/tone.ts";
import { m } from "../../messages/en.ts";
import { CopyButton } from "../../ui/copy.tsx";
import { EventTable } from "../../ui/event-table.tsx";
import { DataList, PageHeader, Panel, Table, Tabs } from "../../ui/page.tsx";
import { Progress } from "../../ui/progress.tsx";
import { Empty, Loaded } from "../../ui/states.tsx";
import { Notice, Status, Tag } from "../../ui/status.tsx";
import { Time } from "../../ui/time.tsx";
import { useUrlState } from "../../ui/use-url.ts";
import { ConditionTable } from "./condition-table.tsx";
import { RuntimeConditions } from "./conditions-tab.tsx";
import { RuntimeObjects } from "./objects-tab.tsx";
import { RuntimePods } from "./pods-tab.tsx";
import { RuntimeRequirements } from "./requirements-tab.tsx";

const text = m.runtimes;
const MEASURED_MS = 5000;
const TABS = ["functions", "pods", "requirements", "enforcement", "children", "conditions", "events"] as const;

export default function RuntimePage({ params }: { readonly params: Readonly<Record<string, string>> }) {
  const id = params["id"] ?? "";
  const [read] = useUrlState();
  const cluster = read("cluster");
  const tab = read("tab", "functions");
  const runtime = useQuery({
    queryKey: ["class-runtime", id, cluster],
    queryFn: ({ signal }) => fetchValue("getClassRuntime", { path: { id }, query: { cluster }, signal }),
    // Measurements change without an event.
    refetchInterval: tab === "requirements" ? MEASURED_MS : false,
  });
  const events = useEvents();
  const [history] = useState(() => new SampleHistory());
  const status = runtime.data?.status;
  const state = status?.health ?? status?.condition;
  const base = `/class-runtimes/${encodeURIComponent(id)}?${cluster === "" ? "" : `cluster=${encodeURIComponent(cluster)}&`}`;
  return (
    <>
      <PageHeader
        title={id}
        crumbs={[{ label: m.nav.runtimes, href: "/class-runtimes" }]}
        status={state !== undefined && <Status soft state={state} label={m.states(state)} />}
        meta={runtime.data && <Meta runtime={runtime.data} />}
        commands={[
          oaas(`get classruntime ${id}`),
          kubectl(`-n ${runtime.data?.target_environment ?? "default"} get classruntime ${id} -o yaml`),
          curl(location.origin, `/api/v1/class-runtimes/${encodeURIComponent(id)}`),
        ]}
      />
      <Tabs
        tabs={TABS.map((each) => ({ id: each, label: text.tabs[each] }))}
        active={tab}
        hrefOf={(each) => `${base}tab=${each}`}
      />
      <Loaded query={runtime}>
        {(value) => (
          <>
            {value.status?.message != null && value.status.message !== "" && toneOf(state ?? "") !== "ok" && (
              <div className="mb-4">
                <Notice tone={toneOf(state ?? "")} title={value.status.message} />
              </div>
            )}
            {tab === "functions" && <Functions runtime={value} />}
            {tab === "pods" && <RuntimePods runtime={value} />}
            {tab === "requirements" && <RuntimeRequirements runtime={value} history={history} />}
            {tab === "enforcement" && <Enforcement id={id} cluster={cluster} />}
            {tab === "children" && <RuntimeObjects runtime={value} />}
            {tab === "conditions" && <RuntimeConditions id={id} cluster={cluster} />}
            {tab === "events" && (
              <Panel title={m.activity.stream} flush>
                <EventTable events={events.filter(({ key }) => key === id)} />
              </Panel>
            )}
          </>
        )}
      </Loaded>
    </>
  );
}

function Meta({
  runtime: {
    class_key: key,
    package_name: name,
    cluster_name: cluster,
    updated_at: updated,
    deployment_key: deployment,
  },
}: {
  readonly runtime: ClassRuntime;
}) {
  return (
    <p>
      {m.deployment.classOf}{" "}
      <Link href={`/packages/${encodeURIComponent(name)}`} className="link">
        {key}
      </Link>{" "}
      {text.in}{" "}
      <Link href={`/clusters/${encodeURIComponent(cluster ?? "")}`} className="link">
        {cluster}
      </Link>{" "}
      {deployment !== undefined && (
        <>
          · {m.terms.deployment}{" "}
          <Link href={`/deployments/${encodeURIComponent(deployment)}`} className="link">
            {deployment}
          </Link>{" "}
        </>
      )}
      · {m.terms.updated} <Time at={updated} />
    </p>
  );
}

function Functions({ runtime }: { readonly runtime: ClassRuntime }) {
  const functions = runtime.status?.functions ?? [];
  return (
    <div className="space-y-4">
      <Panel title={m.terms.functions} flush>
        {functions.length === 0 ? (
          <Empty title={text.noFunctions} />
        ) : (
          <Table
            label={m.terms.functions}
            rows={functions}
            keyOf={({ function_key: key }) => key}
            columns={[
              { title: m.terms.function, cell: (row) => <span className="font-medium">{row.function_key}</span> },
              {
                title: m.terms.condition,
                cell: (row) => (
                  <span title={row.message ?? undefined}>
                    <Status state={row.health ?? "Unknown"} label={m.states(row.health ?? "Unknown")} />
                  </span>
                ),
              },
              {
                title: m.terms.replicas,
                cell: (row) => (
                  <Progress
                    done={row.ready_replicas ?? 0}
                    total={row.desired_replicas ?? 0}
                    tone={toneOf(row.health ?? "")}
                  />
                ),
              },
              {
                title: text.template,
                wide: true,
                cell: (row) => (row.template == null ? "–" : <Tag>{row.template}</Tag>),
              },
              {
                title: text.url,
                wide: true,
                cell: ({ observed_url: url, predicted_url: predicted }) => (
                  <span className="flex items-center gap-1">
                    <code className="text-xs break-all">{url ?? predicted}</code>
                    <CopyButton label={m.common.copy} text={url ?? predicted ?? ""} />
                  </span>
                ),
              },
              { title: text.since, wide: true, cell: (row) => <Time at={row.last_transition_time} /> },
            ]}
          />
        )}
      </Panel>
      <Panel title={text.store}>
        <DataList
          columns={3}
          items={[
            [text.partitions, runtime.partition_count ?? text.noStore],
            [text.phase, runtime.status?.phase ?? "–"],
            [text.serving, runtime.status?.serving === undefined ? "–" : m.common.yesNo(runtime.status.serving)],
            [
              m.deployment.upToDate,
              runtime.status?.up_to_date === undefined ? "–" : m.common.yesNo(runtime.status.up_to_date),
            ],
          ]}
        />
      </Panel>
      {(runtime.status?.drift_corrections ?? []).length > 0 && (
        <Panel title={text.drift}>
          <ul className="space-y-1">
            {runtime.status?.drift_corrections?.map((correction) => (
              <li key={JSON.stringify(correction)}>
                <code className="text-xs break-all">{JSON.stringify(correction)}</code>
              </li>
            ))}
          </ul>
        </Panel>
      )}
    </div>
  );
}

function useEnforcement(id: string, cluster: string) {
  return useQuery({
    queryKey: ["class-runtime", id, cluster, "enforcement"],
    queryFn: ({ signal }) => fetchValue("getEnforcement", { path: { id }, query: { cluster }, signal }),
  });
}

function Enforcement({ id, cluster }: { readonly id: string; readonly cluster: string }) {
  const report = useEnforcement(id, cluster);
  if (report.error instanceof ApiError && report.error.status === 501)
    return (
      <Panel>
        <Empty title={text.noEnforcement} text={report.error.message} />
      </Panel>
    );
  return (
    <Loaded query={report}>
      {({ conditions, states, decisions }) => (
        <div className="space-y-4">
          <ConditionTable conditions={conditions} />
          <Panel title={text.states} flush>
            {states.length === 0 ? (
              <Empty title={text.noEnforcement} text={text.noEnforcementText} />
            ) : (
              <Table
                label={text.states}
                rows={states}
                keyOf={({ component, dimension }) => `${component}/${dimension}`}
                columns={[
                  {
                    title: m.clusters.component,
                    cell: ({ component }) => <span className="font-medium">{component}</span>,
                  },
                  { title: text.dimension, cell: ({ dimension }) => dimension },
                  {
                    title: text.lastAction,
                    cell: ({ last_action: last }) =>
                      last === undefined ? (
                        "–"
                      ) : (
                        <>
                          {`${number(last.from)} → ${number(last.to)} (${last.lane}) `}
                          <Time at={last.at} />
                        </>
                      ),
                  },
                  { title: text.lastSkip, cell: ({ last_skip: skip }) => (skip === undefined ? "–" : m.skips(skip)) },
                ]}
              />
            )}
          </Panel>
          <Panel title={text.decisions}>
            {decisions.length === 0 ? (
              <Empty title={text.noDecisions} />
            ) : (
              <ol className="space-y-4">
                {decisions.map(explainDecision).map((decision) => (
                  <li key={`${decision.component}/${decision.dimension}/${decision.atMs}`}>
                    <p className="flex flex-wrap items-center gap-x-2">
                      <Status
                        state={decision.action === "apply" ? "applied" : decision.action}
                        label={text.decided(decision.component, decision.dimension, decision.from, decision.to)}
                      />
                      {decision.lane !== undefined && <Tag>{decision.lane}</Tag>}
                      <span className="text-sm text-ink-3">
                        <Time at={new Date(decision.atMs).toISOString()} />
                      </span>
                    </p>
                    <dl className="mt-1 flex flex-wrap gap-x-4 gap-y-0.5 text-sm">
                      {decision.numbers.map(([name, value]) => (
                        <div key={name} className="flex gap-1">
                          <dt className="text-ink-3">{name.replaceAll("_", " ")}</dt>
                          <dd className="num">{typeof value === "number" ? number(value) : value}</dd>
                        </div>
                      ))}
                    </dl>
                  </li>
                ))}
              </ol>
            )}
          </Panel>
        </div>
      )}
    </Loaded>
  );
}
