import type { FindingWire, Reply } from "@oaas/contracts/rest";
import { stateText } from "../../output/colours.ts";
import type { Session } from "../../session/session.ts";
import { followEvents } from "./events.ts";

/** One entry of the history of a class. */
export interface LogEntry {
  readonly at: string;
  readonly deployment: string;
  readonly cluster: string;
  /** A revision, function, workload, pod or Kubernetes event. */
  readonly subject: string;
  readonly state: string;
  readonly message: string;
}

/**
 * Prints the history of a class, oldest first: revisions with their outcome, functions that became ready, and the
 * workloads, pods and events that explain failures.
 */
export async function printClassHistory(
  session: Session,
  flags: { readonly cluster?: string; readonly tail?: number; readonly follow: boolean },
  keys: readonly string[],
): Promise<void> {
  const entries = (await Promise.all(keys.map((key) => readEntries(session, key)))).flat();
  const selected = entries
    .filter(({ cluster }) => flags.cluster === undefined || cluster === flags.cluster || cluster === "-")
    .toSorted((a, b) => a.at.localeCompare(b.at));
  session.printList(flags.tail === undefined ? selected : selected.slice(-flags.tail), {
    kind: "log",
    nameOf: ({ deployment, subject }) => `${deployment}/${subject}`,
    columns: [
      { header: "TIME", cell: ({ at }) => session.colours.dim(at) },
      ...(keys.length > 1 ? [{ header: "DEPLOYMENT", cell: ({ deployment }: LogEntry) => deployment }] : []),
      { header: "CLUSTER", cell: ({ cluster }) => cluster },
      { header: "SUBJECT", cell: ({ subject }) => subject },
      { header: "STATE", cell: ({ state }) => stateText(state, session.colours) },
      { header: "MESSAGE", cell: ({ message }) => message },
    ],
  });
  if (flags.follow) await Promise.all(keys.map((key) => followEvents(session, {}, key)));
}

async function readEntries(session: Session, key: string): Promise<readonly LogEntry[]> {
  const parameters = { key };
  const [revisions, status, explanation] = await Promise.all([
    session.listAll("listDeploymentRevisions", { parameters }),
    session.call("getDeploymentStatus", { parameters }),
    session.call("explainDeployment", { parameters }),
  ]);
  return [
    ...revisions.map((revision) => revisionEntry(key, revision)),
    ...status.value.clusters.flatMap(({ cluster, functions }) =>
      functions.flatMap((each) => functionEntries(key, cluster, each)),
    ),
    ...explanation.value.clusters.flatMap(({ cluster, finding }) =>
      finding ? findingEntries(key, cluster, finding) : [],
    ),
  ];
}

function revisionEntry(deployment: string, revision: Reply<"listDeploymentRevisions">["value"][number]): LogEntry {
  const { author, reason, clusters } = revision;
  const who = author === null ? "" : ` by ${author}`;
  const where = Object.keys(clusters).join(", ");
  return {
    at: revision.created_at,
    deployment,
    cluster: "-",
    subject: `revision ${revision.revision}`,
    state: revision.outcome,
    message: `requested${who} for ${where === "" ? "no cluster" : where}${reason === null ? "" : `: ${reason}`}`,
  };
}

type FunctionState = Reply<"getDeploymentStatus">["value"]["clusters"][number]["functions"][number];

function functionEntries(deployment: string, cluster: string, each: FunctionState): readonly LogEntry[] {
  if (each.last_transition_time === null) return [];
  const state = each.ready === true ? "Ready" : (each.reason ?? "NotReady");
  const message = each.message ?? each.observed_url ?? "";
  return [
    { at: each.last_transition_time, deployment, cluster, subject: `function ${each.function_key}`, state, message },
  ];
}

/** The entries of a finding and its causes. Healthy findings are omitted: their functions have entries. */
function findingEntries(deployment: string, cluster: string, finding: FindingWire): readonly LogEntry[] {
  const { level, name, since, reason, message, count, causes, verdict } = finding;
  const times = count !== null && count > 1 ? ` (${count} times)` : "";
  const own =
    since === null || (verdict === "healthy" && level !== "event")
      ? []
      : [{ at: since, deployment, cluster, subject: `${level} ${name}`, state: reason, message: message + times }];
  return [...own, ...causes.flatMap((cause) => findingEntries(deployment, cluster, cause))];
}
