import { useQuery } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { fetchValue } from "../../api/client.ts";
import { useCan } from "../../api/session.ts";
import { curl, kubectl, oaas } from "../../lib/commands.ts";
import { count, measured, number, percent } from "../../lib/format.ts";
import { toneOf } from "../../lib/tone.ts";
import { m } from "../../messages/en.ts";
import { LinkButton } from "../../ui/button.tsx";
import { ObjectLink } from "../../ui/object-link.tsx";
import { PageHeader, Panel, Table } from "../../ui/page.tsx";
import { Empty, Loaded } from "../../ui/states.tsx";
import { Notice, Status } from "../../ui/status.tsx";
import { Time } from "../../ui/time.tsx";
import { Progress } from "../../ui/progress.tsx";
import type { Overview } from "../../api/contract.ts";
import { useOverview } from "./overview-api.ts";

const text = m.overview;

type Missed = Overview["violations"]["items"][number];

function missedText({ component, requirement, observed, required, unit, cluster }: Missed): string {
  const name = `${component === "" ? "" : `${component} `}${m.requirements(requirement)}`;
  const value = observed === null ? undefined : measured(observed, unit);
  return text.missed({ name, cluster, observed: value, required: measured(required, unit) });
}

export default function OverviewPage() {
  const overview = useOverview();
  const canDeploy = useCan("deployer");
  return (
    <>
      <PageHeader
        title={m.nav.overview}
        commands={[oaas("get deployments"), kubectl("get classruntimes -A"), curl(location.origin, "/api/v1/overview")]}
        actions={
          canDeploy && (
            <LinkButton href="/plan" variant="primary" icon={Plus}>
              {m.deployments.create}
            </LinkButton>
          )
        }
      />
      <Loaded query={overview} rows={10}>
        {(value) => <OverviewContent overview={value} />}
      </Loaded>
    </>
  );
}

function OverviewContent({ overview }: { readonly overview: Overview }) {
  const {
    deployments,
    class_runtimes: runtimes,
    packages,
    clusters,
    operations,
    violations,
    recent_changes: changes,
  } = overview;
  return (
    <div className="space-y-4">
      <div className="grid grid-cols-2 gap-3 sm:gap-4 xl:grid-cols-4">
        <Counter
          title={m.nav.deployments}
          total={deployments.total}
          href="/deployments"
          states={deployments.by_condition}
          hrefOf={(state) => `/deployments?condition=${state}`}
        />
        <Counter
          title={m.nav.runtimes}
          total={runtimes.total}
          href="/class-runtimes"
          states={runtimes.by_condition}
          hrefOf={(state) => `/class-runtimes?status=${state}`}
        />
        <Counter
          title={m.nav.clusters}
          total={clusters.total}
          href="/clusters"
          states={clusters.by_status}
          hrefOf={(state) => `/clusters?status=${state}`}
        >
          {clusters.cordoned > 0 && <CounterLink href="/clusters" state="Cordoned" value={clusters.cordoned} />}
        </Counter>
        <Counter title={m.nav.packages} total={packages.total} href="/packages" states={{}} hrefOf={() => "/packages"}>
          {packages.disabled > 0 && (
            <CounterLink href="/packages?disabled=true" state="Disabled" value={packages.disabled} />
          )}
        </Counter>
      </div>
      {deployments.total === 0 && packages.total === 0 && (
        <Panel>
          <Empty title={text.nothing} text={text.nothingText}>
            <LinkButton href="/new-package" variant="primary">
              {m.packages.create}
            </LinkButton>
          </Empty>
        </Panel>
      )}
      {violations.total > 0 && (
        <Notice tone="bad" title={text.violated(violations.total)}>
          <ul className="mt-1 space-y-0.5">
            {violations.items.map((item) => (
              <li key={item.id + item.component + item.requirement}>
                <Link
                  href={`/class-runtimes/${encodeURIComponent(item.id)}?cluster=${encodeURIComponent(item.cluster)}`}
                  className="font-medium hover:underline"
                >
                  {item.class_key}
                </Link>{" "}
                {missedText(item)}
              </li>
            ))}
          </ul>
        </Notice>
      )}
      <div className="grid gap-4 xl:grid-cols-[minmax(0,1fr)_22rem]">
        <div className="min-w-0 space-y-4">
          <Panel
            title={text.operations(operations.running)}
            flush
            actions={
              <Link href="/activity?tab=operations" className="link text-sm">
                {m.common.showAll}
              </Link>
            }
          >
            {operations.items.length === 0 ? (
              <p className="px-4 py-3 text-ink-2">{text.noOperations}</p>
            ) : (
              <Table
                label={text.operations(operations.running)}
                rows={operations.items.slice(0, 8)}
                keyOf={({ id }) => id}
                columns={[
                  {
                    title: m.terms.deployment,
                    cell: ({ deployment_key: key }) => <ObjectLink list="deployments" name={key} />,
                  },
                  { title: m.terms.operation, cell: ({ kind }) => m.operationKinds(kind) },
                  {
                    title: m.terms.state,
                    cell: ({ state, message }) => (
                      <span title={message ?? undefined}>
                        <Status state={state} label={m.states(state)} />
                      </span>
                    ),
                  },
                  {
                    title: m.terms.progress,
                    wide: true,
                    cell: ({ done, total, state }) => <Progress done={done} total={total} tone={toneOf(state)} />,
                  },
                ]}
              />
            )}
          </Panel>
          <Panel
            title={text.changes}
            flush
            actions={
              <Link href="/activity" className="link text-sm">
                {m.common.showAll}
              </Link>
            }
          >
            {changes.length === 0 ? (
              <Empty title={text.noChanges} />
            ) : (
              <Table
                label={text.changes}
                rows={changes.slice(0, 10)}
                keyOf={({ kind, key, revision }) => `${kind}/${key}/${revision}`}
                columns={[
                  {
                    title: m.terms.object,
                    cell: ({ kind, key, revision }) => (
                      <Link href={`/${kind}s/${encodeURIComponent(key)}?tab=revisions`} className="hover:underline">
                        <span className="font-medium">{key}</span>{" "}
                        <span className="block text-sm text-ink-3">
                          {m.terms.revisionOf(m.palette.kinds[kind], revision)}
                        </span>
                      </Link>
                    ),
                  },
                  { title: m.terms.author, cell: ({ author }) => author, wide: true },
                  {
                    title: m.terms.reason,
                    cell: ({ reason }) => reason ?? <span className="text-ink-3">–</span>,
                    wide: true,
                  },
                  { title: m.terms.time, cell: ({ at }) => <Time at={at} /> },
                ]}
              />
            )}
          </Panel>
        </div>
        <ClusterHealth />
      </div>
    </div>
  );
}

interface CounterProps {
  readonly title: string;
  readonly total: number;
  readonly href: string;
  readonly states: Readonly<Record<string, number>>;
  readonly hrefOf: (state: string) => string;
  readonly children?: ReactNode;
}

/** Worst first. */
const ORDER = { bad: 0, warn: 1, progress: 2, idle: 3, ok: 4 } as const;
const BAR = { ok: "bg-ok", progress: "bg-info", warn: "bg-warn", bad: "bg-bad", idle: "bg-idle" } as const;

function Counter({ title, total, href, states, hrefOf, children }: CounterProps) {
  const entries = Object.entries(states)
    .filter(([, value]) => value > 0)
    .toSorted(([a], [b]) => ORDER[toneOf(a)] - ORDER[toneOf(b)]);
  return (
    <section className="rounded-xl border border-line bg-surface p-4 shadow-[var(--shadow)]">
      <Link href={href} className="group flex items-baseline justify-between gap-2">
        <h2 className="font-medium text-ink-2 group-hover:underline">{title}</h2>
        <span className="num text-2xl font-semibold">{count(total)}</span>
      </Link>
      {entries.length > 0 && (
        <div className="mt-2 flex h-1.5 gap-0.5 overflow-hidden rounded-full" aria-hidden>
          {entries.map(([state, value]) => (
            <div key={state} className={BAR[toneOf(state)]} style={{ flexGrow: value }} />
          ))}
        </div>
      )}
      <ul className="mt-2.5 flex flex-wrap gap-x-4 gap-y-1 text-sm">
        {entries.map(([state, value]) => (
          <CounterLink key={state} href={hrefOf(state)} state={state} value={value} />
        ))}
        {children}
      </ul>
    </section>
  );
}

function CounterLink({
  href,
  state,
  value,
}: {
  readonly href: string;
  readonly state: string;
  readonly value: number;
}) {
  return (
    <li>
      <Link href={href} className="hover:underline">
        <Status state={state} label={`${count(value)} ${m.states(state)}`} />
      </Link>
    </li>
  );
}

function ClusterHealth() {
  const clusters = useQuery({
    queryKey: ["clusters"],
    queryFn: ({ signal }) => fetchValue("listClusters", { signal }),
  });
  return (
    <Panel title={text.clusterHealth}>
      <Loaded query={clusters} rows={4}>
        {(list) =>
          list.length === 0 ? (
            <Empty title={m.clusters.none} text={m.clusters.noneText} />
          ) : (
            <ul className="divide-y divide-line">
              {list.map(({ name, health }) => (
                <li key={name} className="py-2.5 first:pt-0 last:pb-0">
                  <div className="flex items-center justify-between gap-2">
                    <ObjectLink list="clusters" name={name} />
                    <Status state={health.status} label={m.states(health.status)} />
                  </div>
                  <p className="num mt-0.5 text-sm text-ink-2">
                    {health.ready_nodes != null &&
                      health.node_count != null &&
                      m.clusters.nodes(number(health.ready_nodes), number(health.node_count))}
                    {health.availability != null && ` · ${m.clusters.upPart(percent(health.availability))}`}
                  </p>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Panel>
  );
}
