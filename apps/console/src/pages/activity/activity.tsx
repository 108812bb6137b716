import { useInfiniteQuery } from "@tanstack/react-query";
import { ShieldAlert } from "lucide-react";
import { useCallback } from "react";
import { call } from "../../api/client.ts";
import type { AuditEntry, Operation } from "../../api/contract.ts";
import { useEvents } from "../../api/feed-context.tsx";
import { useCan } from "../../api/session.ts";
import { curl, oaas } from "../../lib/commands.ts";
import { toneOf } from "../../lib/tone.ts";
import { m } from "../../messages/en.ts";
import { EventTable } from "../../ui/event-table.tsx";
import { SelectFilter, TextFilter } from "../../ui/filters.tsx";
import { ObjectLink } from "../../ui/object-link.tsx";
import { PageHeader, Panel, Table, Tabs } from "../../ui/page.tsx";
import { Progress } from "../../ui/progress.tsx";
import { MoreTable, type Listed } from "../../ui/more-table.tsx";
import { Empty } from "../../ui/states.tsx";
import { Status } from "../../ui/status.tsx";
import { Time } from "../../ui/time.tsx";
import { useUrlState } from "../../ui/use-url.ts";

const text = m.activity;
const TABS = ["audit", "operations", "events"] as const;
const PAGE = 50;
const TOPICS = ["deployment", "operation", "cluster", "class-runtime", "package"] as const;

export default function ActivityPage() {
  const [read] = useUrlState();
  const isAdmin = useCan("admin");
  const tab = read("tab", isAdmin ? "audit" : "operations");
  return (
    <>
      <PageHeader
        title={m.nav.activity}
        commands={[oaas("audit"), oaas("watch"), curl(location.origin, "/api/v1/audit")]}
      />
      <Tabs
        tabs={TABS.map((id) => ({ id, label: text.tabs[id] }))}
        active={tab}
        hrefOf={(id) => `/activity?tab=${id}`}
      />
      {tab === "audit" &&
        (isAdmin ? <Audit /> : <Empty icon={ShieldAlert} title={text.adminOnly} text={text.adminOnlyText} />)}
      {tab === "operations" && <Operations />}
      {tab === "events" && <Events />}
    </>
  );
}

function useFilters() {
  const [read, write] = useUrlState();
  const onFilter = useCallback((filter: string) => write({ filter }, true), [write]);
  return { read, write, onFilter, filter: read("filter"), failed: read("failed") === "true" };
}

function FailedOnly({
  checked,
  onChange,
}: {
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
}) {
  return (
    <label className="flex items-center gap-2 text-sm">
      <input type="checkbox" checked={checked} onChange={(event) => onChange(event.target.checked)} /> {text.failedOnly}
    </label>
  );
}

function Audit() {
  const { read, write, onFilter, filter, failed } = useFilters();
  const actor = read("actor");
  const query = { target: filter, actor, ...(failed && { outcome: "failed" }), limit: PAGE };
  const entries = useInfiniteQuery({
    queryKey: ["audit", query],
    initialPageParam: "",
    queryFn: async ({ pageParam, signal }): Promise<Listed<AuditEntry>> => {
      const { value, nextPageToken } = await call("listAudit", { query: { ...query, page_token: pageParam }, signal });
      return { rows: value, next: nextPageToken ?? undefined };
    },
    getNextPageParam: ({ next }) => next,
  });
  return (
    <>
      <div className="no-print mb-3 flex flex-wrap items-center gap-3">
        <TextFilter label={text.target} value={filter} onChange={onFilter} />
        <TextFilter
          label={text.actor}
          value={actor}
          onChange={useCallback((next: string) => write({ actor: next }, true), [write])}
        />
        <FailedOnly checked={failed} onChange={(next) => write({ failed: next ? "true" : "" })} />
      </div>
      <Panel flush>
        <MoreTable query={entries} label={text.tabs.audit}>
          {(rows) => (
            <Table
              label={text.tabs.audit}
              rows={rows}
              keyOf={({ id, outcome }) => `${id}/${outcome}`}
              columns={[
                { title: m.terms.time, cell: ({ time }) => <Time at={time} /> },
                {
                  title: m.terms.author,
                  cell: ({ actor: who }) => (
                    <span title={`${who.role ?? ""} ${who.address ?? ""}`}>{who.name ?? who.subject}</span>
                  ),
                },
                { title: text.action, cell: ({ action }) => <span className="font-medium">{action}</span> },
                {
                  title: text.target,
                  wide: true,
                  cell: ({ target }) => <code className="text-xs break-all">{target}</code>,
                },
                {
                  title: text.outcome,
                  cell: ({ outcome, status }) => (
                    <Status state={outcome} label={`${m.states(outcome)}${status == null ? "" : ` (${status})`}`} />
                  ),
                },
                { title: m.terms.reason, wide: true, cell: ({ reason }) => reason ?? "–" },
              ]}
            />
          )}
        </MoreTable>
      </Panel>
    </>
  );
}

function Operations() {
  const { read, write, onFilter, filter, failed } = useFilters();
  const state = failed ? "failed" : read("state");
  const query = { filter, state, limit: PAGE };
  const operations = useInfiniteQuery({
    queryKey: ["operations", query],
    initialPageParam: "",
    queryFn: async ({ pageParam, signal }): Promise<Listed<Operation>> => {
      const { value, nextPageToken } = await call("listOperations", {
        query: { ...query, page_token: pageParam },
        signal,
      });
      return { rows: value, next: nextPageToken ?? undefined };
    },
    getNextPageParam: ({ next }) => next,
  });
  const states = ["running", "succeeded", "failed", "compensating", "compensated", "cancelled"] as const;
  return (
    <>
      <div className="no-print mb-3 flex flex-wrap items-center gap-3">
        <TextFilter label={m.deployments.filter} value={filter} onChange={onFilter} />
        <SelectFilter
          label={m.terms.state}
          value={state}
          options={states.map((each) => [each, m.states(each)] as const)}
          onChange={(next) => write({ state: next, failed: "" })}
        />
        <FailedOnly checked={failed} onChange={(next) => write({ failed: next ? "true" : "", state: "" })} />
      </div>
      <Panel flush>
        <MoreTable query={operations} label={text.tabs.operations}>
          {(rows) => (
            <Table
              label={text.tabs.operations}
              rows={rows}
              keyOf={({ id }) => id}
              columns={[
                {
                  title: m.terms.deployment,
                  cell: ({ deployment_key: key }) => <ObjectLink list="deployments" name={key} />,
                },
                { title: m.terms.operation, cell: ({ kind }) => m.operationKinds(kind) },
                { title: m.terms.state, cell: ({ state: each }) => <Status state={each} label={m.states(each)} /> },
                {
                  title: m.terms.progress,
                  wide: true,
                  cell: ({ done, total, state: each }) => <Progress done={done} total={total} tone={toneOf(each)} />,
                },
                {
                  title: m.terms.message,
                  wide: true,
                  cell: ({ message }) => <span className="text-ink-2">{message}</span>,
                },
                {
                  title: m.terms.time,
                  cell: ({ ended_at: ended, started_at: started }) => <Time at={ended ?? started} />,
                },
              ]}
            />
          )}
        </MoreTable>
      </Panel>
    </>
  );
}

/** Events of any object since the console was opened. */
function Events() {
  const { read, write, onFilter, filter, failed } = useFilters();
  const topic = read("topic");
  const events = useEvents().filter(
    (event) =>
      (topic === "" || event.topic === topic) &&
      event.key.includes(filter) &&
      (!failed || (event.state !== undefined && ["bad", "warn"].includes(toneOf(event.state)))),
  );
  return (
    <>
      <div className="no-print mb-3 flex flex-wrap items-center gap-3">
        <TextFilter label={text.object} value={filter} onChange={onFilter} />
        <SelectFilter
          label={m.terms.topic}
          value={topic}
          options={TOPICS}
          onChange={(next) => write({ topic: next })}
        />
        <FailedOnly checked={failed} onChange={(next) => write({ failed: next ? "true" : "" })} />
      </div>
      <Panel flush>
        <EventTable events={events} />
      </Panel>
    </>
  );
}
