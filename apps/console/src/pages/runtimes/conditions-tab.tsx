import { useQuery } from "@tanstack/react-query";
import { History } from "lucide-react";
import { fetchValue } from "../../api/client.ts";
import { m } from "../../messages/en.ts";
import { Panel, Table } from "../../ui/page.tsx";
import { Empty, Loaded } from "../../ui/states.tsx";
import { Status } from "../../ui/status.tsx";
import { Time } from "../../ui/time.tsx";
import { ConditionTable } from "./condition-table.tsx";

const text = m.runtimes;
/** Kubernetes Events are not in the event stream of the package manager. */
const REFRESH_MS = 10_000;

/** The conditions of a class runtime, and what happened to them. */
export function RuntimeConditions({ id, cluster }: { readonly id: string; readonly cluster: string }) {
  const read = useQuery({
    queryKey: ["class-runtime", id, cluster, "conditions"],
    queryFn: ({ signal }) => fetchValue("getClassRuntimeConditions", { path: { id }, query: { cluster }, signal }),
    refetchInterval: REFRESH_MS,
  });
  return (
    <Loaded query={read}>
      {({ conditions, events }) => (
        <div className="space-y-4">
          <ConditionTable conditions={conditions} />
          <Panel title={text.history} flush>
            {events.length === 0 ? (
              <Empty icon={History} title={text.noHistory} text={text.noHistoryText} />
            ) : (
              <Table
                label={text.history}
                rows={events.map((event, index) => ({ ...event, index }))}
                keyOf={({ index }) => String(index)}
                columns={[
                  { title: m.terms.time, cell: ({ at }) => (at === null ? "–" : <Time at={at} />) },
                  {
                    title: m.terms.event,
                    cell: ({ type, reason, count }) => (
                      <Status
                        state={type}
                        tone={type === "Warning" ? "warn" : "ok"}
                        label={count > 1 ? text.repeated(reason, count) : reason}
                      />
                    ),
                  },
                  { title: m.terms.message, cell: ({ message }) => <span className="text-ink-2">{message}</span> },
                ]}
              />
            )}
          </Panel>
        </div>
      )}
    </Loaded>
  );
}
