import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { fetchValue } from "../../api/client.ts";
import type { ClassRuntime } from "../../api/contract.ts";
import type { Tone } from "../../lib/tone.ts";
import { m } from "../../messages/en.ts";
import { Panel, Table } from "../../ui/page.tsx";
import { Empty, Loaded } from "../../ui/states.tsx";
import { Status, Tag } from "../../ui/status.tsx";
import { Time } from "../../ui/time.tsx";

const text = m.runtimes.pods;
/** Pods change without an event of the package manager. */
const REFRESH_MS = 5000;

/** The pods of a class runtime, each with the reason why it is not ready and a link to its output. */
export function RuntimePods({ runtime }: { readonly runtime: ClassRuntime }) {
  const { id, cluster_name: cluster } = runtime;
  const pods = useQuery({
    queryKey: ["class-runtime", id, cluster, "pods"],
    queryFn: ({ signal }) =>
      fetchValue("listClassRuntimePods", { path: { id }, query: { cluster: cluster ?? "" }, signal }),
    refetchInterval: REFRESH_MS,
  });
  return (
    <Panel title={m.runtimes.tabs.pods} flush>
      <Loaded query={pods}>
        {({ pods: rows, more_pods: more }) =>
          rows.length === 0 ? (
            <Empty title={text.none} text={text.noneText} />
          ) : (
            <>
              <Table
                label={m.runtimes.tabs.pods}
                rows={rows}
                keyOf={({ name }) => name}
                columns={[
                  {
                    title: m.runtimes.name,
                    cell: ({ name }) => <span className="font-medium wrap-anywhere">{name}</span>,
                  },
                  { title: m.terms.function, wide: true, cell: ({ component }) => <Tag>{component}</Tag> },
                  {
                    title: m.terms.state,
                    cell: ({ ready, phase, reason, message }) => (
                      <>
                        <Status
                          state={phase}
                          tone={toneOfPod(ready, phase)}
                          label={ready ? text.ready : (reason ?? phase)}
                        />
                        {message !== undefined && <p className="max-w-prose text-sm text-ink-2">{message}</p>}
                      </>
                    ),
                  },
                  { title: m.runtimes.phase, wide: true, cell: ({ phase }) => phase },
                  {
                    title: text.node,
                    wide: true,
                    cell: ({ node }) => <span className="whitespace-nowrap">{node ?? "–"}</span>,
                  },
                  { title: text.restarts, numeric: true, cell: ({ restarts }) => restarts },
                  { title: text.age, wide: true, cell: ({ created_at: at }) => <Time at={at} /> },
                  { title: text.output, cell: ({ component }) => <LogsLink runtime={runtime} component={component} /> },
                ]}
              />
              {more > 0 && <p className="border-t border-line px-4 py-2 text-sm text-ink-3">{text.more(more)}</p>}
            </>
          )
        }
      </Loaded>
    </Panel>
  );
}

/** A pod that starts or ends is not a failure. */
function toneOfPod(ready: boolean, phase: string): Tone {
  if (ready || phase === "Succeeded") return "ok";
  return phase === "Failed" ? "bad" : "progress";
}

/** The output of functions only: state stores have none. */
function LogsLink({ runtime, component }: { readonly runtime: ClassRuntime; readonly component: string }) {
  const { deployment_key: key, cluster_name: cluster } = runtime;
  const isFunction = runtime.status?.functions?.some(({ function_key: each }) => each === component) ?? false;
  if (key === undefined || !isFunction) return "–";
  const query = new URLSearchParams({ tab: "logs", cluster: cluster ?? "", function: component });
  return (
    <Link href={`/deployments/${encodeURIComponent(key)}?${query.toString()}`} className="link">
      {text.logs}
    </Link>
  );
}
