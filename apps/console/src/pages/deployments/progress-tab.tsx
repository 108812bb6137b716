import { Link } from "wouter";
import type { ClusterStatus, DeploymentStatus } from "../../api/contract.ts";
import { duration } from "../../lib/time.ts";
import { downtimeMs, measured, money, percent } from "../../lib/format.ts";
import { toneOf } from "../../lib/tone.ts";
import { m } from "../../messages/en.ts";
import { ObjectLink } from "../../ui/object-link.tsx";
import { DataList, Panel, Table } from "../../ui/page.tsx";
import { Progress } from "../../ui/progress.tsx";
import { Empty } from "../../ui/states.tsx";
import { Notice, Status } from "../../ui/status.tsx";
import { Time } from "../../ui/time.tsx";

const text = m.deployment;

/** What runs where now, and whether it keeps its promises. */
export function DeploymentProgress({ status }: { readonly status: DeploymentStatus }) {
  const { operation, clusters, requirements = [] } = status;
  return (
    <div className="space-y-4">
      {status.message !== null && <Notice tone={toneOf(status.condition)} title={status.message} />}
      <div className="grid gap-4 lg:grid-cols-3">
        <Panel title={text.rollout} className="lg:col-span-2">
          <DataList
            columns={3}
            items={[
              [
                text.serving,
                <Progress
                  key="s"
                  done={status.serving_clusters ?? 0}
                  total={status.desired_clusters ?? 0}
                  tone={status.serving_clusters === status.desired_clusters ? "ok" : "warn"}
                />,
              ],
              [
                text.upToDate,
                <Progress
                  key="u"
                  done={status.up_to_date_clusters ?? 0}
                  total={status.desired_clusters ?? 0}
                  tone={status.up_to_date_clusters === status.desired_clusters ? "ok" : "progress"}
                />,
              ],
              [
                m.terms.revision,
                <span key="r" className="num">
                  {status.revision}
                </span>,
              ],
              ...(operation === null
                ? []
                : ([
                    [
                      m.terms.operation,
                      <span key="o" className="flex flex-wrap gap-x-3">
                        {m.operationKinds(operation.kind)}{" "}
                        <Status state={operation.state} label={m.states(operation.state)} />
                      </span>,
                    ],
                    [
                      text.steps,
                      <Progress key="p" done={operation.done} total={operation.total} tone={toneOf(operation.state)} />,
                    ],
                    [
                      text.outcome,
                      operation.outcome === undefined ? (
                        "–"
                      ) : (
                        <span key="out" className="flex flex-wrap gap-x-2">
                          <Status state={operation.outcome} label={m.states(operation.outcome)} />{" "}
                          <span className="text-ink-2">
                            <Time at={operation.outcome_at} />
                          </span>
                        </span>
                      ),
                    ],
                  ] as const)),
            ]}
          />
          {operation?.message != null && <p className="mt-3 text-bad">{operation.message}</p>}
        </Panel>
        <Panel title={text.promise}>
          <PromiseKept status={status} />
        </Panel>
      </div>
      <Panel title={m.terms.clusters} flush>
        {clusters.length === 0 ? (
          <Empty title={text.noClusters} />
        ) : (
          <Table
            label={m.terms.clusters}
            rows={clusters}
            keyOf={({ unit_id: id }) => id}
            columns={[
              {
                title: m.terms.cluster,
                cell: ({ cluster }) => <ObjectLink list="clusters" name={cluster} />,
              },
              {
                title: m.terms.condition,
                cell: ({ condition, reachable }) => (
                  <>
                    <Status state={condition} label={m.states(condition)} />
                    {!reachable && <Status state="unreachable" label={text.unreachable} />}
                  </>
                ),
              },
              { title: m.terms.functions, cell: (unit) => <Functions unit={unit} /> },
              {
                title: m.terms.message,
                wide: true,
                cell: ({ error, message }) =>
                  error === null ? (
                    <span className="text-ink-2">{message}</span>
                  ) : (
                    <span className="text-bad">{error}</span>
                  ),
              },
              {
                title: text.unit,
                wide: true,
                cell: ({ unit_id: id, cluster }) => (
                  <Link
                    href={`/class-runtimes/${encodeURIComponent(id)}?cluster=${encodeURIComponent(cluster)}`}
                    className="link font-mono text-xs break-all"
                  >
                    {id}
                  </Link>
                ),
              },
              { title: text.reported, wide: true, cell: ({ observed_at: at }) => <Time at={at} /> },
            ]}
          />
        )}
      </Panel>
      {requirements.length > 0 && (
        <Panel title={text.requirements} flush>
          <Table
            label={text.requirements}
            rows={requirements}
            keyOf={({ requirement, component }) => `${requirement}/${component}`}
            columns={[
              {
                title: m.terms.requirement,
                cell: (row) => (
                  <span className="font-medium">
                    {row.component === "" ? row.text : `${row.component}: ${row.text}`}
                  </span>
                ),
              },
              { title: text.use, cell: (row) => <span className="text-ink-2">{row.use_text}</span>, wide: true },
              {
                title: text.measurements,
                cell: ({ measurements }) => (
                  <ul className="space-y-0.5">
                    {measurements.map((each, index) => (
                      <li key={index} className="flex flex-wrap items-center gap-x-2">
                        <Status state={each.status ?? "unknown"} label={m.states(each.status ?? "not measured")} />
                        <span className="text-ink-2">
                          {each.observed !== undefined && measured(each.observed, each.unit ?? "")} {each.cluster}{" "}
                          {each.component}
                        </span>
                      </li>
                    ))}
                  </ul>
                ),
              },
            ]}
          />
        </Panel>
      )}
    </div>
  );
}

function Functions({ unit }: { readonly unit: ClusterStatus }) {
  if (unit.functions.length === 0) return <span className="text-ink-3">–</span>;
  return (
    <ul className="min-w-44 space-y-0.5">
      {unit.functions.map(
        ({ function_key: name, ready_replicas: ready, desired_replicas: desired, health, message }) => (
          <li
            key={name}
            title={message ?? undefined}
            className="grid grid-cols-[minmax(0,1fr)_6.5rem] items-center gap-3"
          >
            <span className="truncate">{name}</span>
            <Progress done={ready ?? 0} total={desired ?? 0} tone={toneOf(health ?? "unknown")} />
          </li>
        ),
      )}
    </ul>
  );
}

/** The planned availability against the target, as time. */
function PromiseKept({ status: { planned_availability: planned, price } }: { readonly status: DeploymentStatus }) {
  return (
    <div className="space-y-3">
      {planned == null ? (
        <p className="text-ink-2">{text.noPlan}</p>
      ) : (
        <>
          <div>
            <p className="num text-2xl font-semibold">{percent(planned.independent_replicas)}</p>
            <p className="text-sm text-ink-2">{m.plan.downtime(duration(downtimeMs(planned.independent_replicas)))}</p>
          </div>
          <Status
            state={planned.meets_target ? "met" : "violated"}
            label={
              planned.meets_target ? m.plan.meets(percent(planned.target)) : m.plan.misses(percent(planned.target))
            }
          />
          <p className="text-sm text-ink-2">{planned.warning ?? planned.message}</p>
        </>
      )}
      {price != null && Object.entries(price.totals).length > 0 && (
        <p className="border-t border-line pt-3">
          {Object.entries(price.totals).map(([currency, value]) => (
            <span key={currency} className="num font-medium">
              {money(value, currency)}{" "}
            </span>
          ))}
          <span className="text-ink-2">{m.plan.perMonth}</span>
        </p>
      )}
    </div>
  );
}
