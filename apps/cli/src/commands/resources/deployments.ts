import { Fault } from "@oaas/foundation";
import type { Reply } from "@oaas/contracts/rest";
import { EXIT, UsageError, type ExitCode } from "../../exit-code.ts";
import { stateText } from "../../output/colours.ts";
import { nfrText } from "../../output/nfr-text.ts";
import { driftText } from "../../output/drift-text.ts";
import { holdLines } from "../../output/hold-text.ts";
import { replanLines } from "../../output/replan-text.ts";
import { stateLines } from "../../output/state-text.ts";
import { priceLines } from "../../output/price-text.ts";
import { availabilityLines } from "../../output/availability-text.ts";
import { ageText, tableText } from "../../output/table.ts";
import { readyText, upToDateText } from "../../output/replicas-text.ts";
import { confirm, type Session } from "../../session/session.ts";
import { deploymentRevisionView, deploymentView } from "../../output/views.ts";
import { diffQuery, noteRemovedRevisions } from "./packages.ts";

const tableContext = (session: Session) => ({ now: session.environment.clock.now(), colours: session.colours });
const textView = (kind: string, name: string) => ({ kind, nameOf: () => name, columns: [] });

export async function listDeployments(
  session: Session,
  flags: { readonly package?: string; readonly class?: string; readonly cluster?: string; readonly condition?: string },
  key?: string,
): Promise<void> {
  if (key !== undefined) return getDeployment(session, flags, key);
  const items = await session.listAll("listDeployments", {
    query: {
      package_name: flags.package,
      class_key: flags.class,
      target_cluster: flags.cluster,
      condition: flags.condition,
    },
  });
  session.printList(items, deploymentView(tableContext(session)));
}

export async function getDeployment(session: Session, _flags: object, key: string): Promise<void> {
  const { value } = await session.call("getDeployment", { parameters: { key } });
  session.printItem(value, deploymentView(tableContext(session)));
}

export async function deploymentStatus(session: Session, _flags: object, key: string): Promise<void> {
  const { value } = await session.call("getDeploymentStatus", { parameters: { key } });
  session.printItem(value, textView("deployment", key), () => statusText(value, session));
}

function statusText(state: DeploymentState, session: Session): string {
  const { colours } = session;
  const { operation } = state;
  const lines = [
    `${colours.bold(state.key)}  ${stateText(state.condition, colours)}  revision ${state.revision}`,
    state.message ?? servingText(state),
    ...availabilityLines(state, colours),
    ...priceLines(state.price),
    ...(state.requirements ?? []).map(({ summary }) => `requirement: ${summary}`),
    ...stateLines(state, colours),
    ...holdLines(state, colours),
    ...replanLines(state.replan, colours),
    ...(operation === null
      ? []
      : [
          `operation: ${operation.kind} ${stateText(operation.outcome ?? operation.state, colours)}${reachedText(operation, session)}, ${operation.done} of ${operation.total} steps`,
        ]),
    "",
  ];
  const clusters = tableText(state.clusters, [
    { header: "CLUSTER", cell: ({ cluster }) => cluster },
    { header: "NAMESPACE", cell: ({ namespace }) => namespace ?? "-" },
    { header: "STATE", cell: (each) => stateText(each.reachable ? each.condition : "Unreachable", colours) },
    { header: "READY", cell: ({ functions }) => readyText(functions) },
    { header: "UP-TO-DATE", cell: ({ functions }) => upToDateText(functions) },
    { header: "UNIT", cell: ({ unit_id }) => unit_id },
    { header: "MESSAGE", cell: ({ message, error }) => error ?? message ?? "" },
  ]);
  const isWide = session.format.as === "wide";
  const requirements = nfrText(state.clusters, { ...tableContext(session), isWide });
  const repairs = driftText(state.clusters, session.environment.clock.now());
  return `${lines.join("\n")}\n${clusters}${repairs}${requirements}`;
}

type DeploymentState = Reply<"getDeploymentStatus">["value"];

/** The counts of a deployment without problems; package managers of earlier releases do not count. */
function servingText({
  desired_clusters: all,
  serving_clusters: serving,
  up_to_date_clusters: updated,
}: DeploymentState) {
  return all === undefined ? "" : `serving in ${serving} of ${all} clusters, up to date in ${updated} of ${all}`;
}

/** How long ago the outcome of an operation was reached. */
function reachedText({ outcome_at: at }: { readonly outcome_at?: string | undefined }, session: Session): string {
  return at === undefined ? "" : ` (reached ${ageText(at, session.environment.clock.now())} ago)`;
}

export async function deleteDeployment(
  session: Session,
  flags: { readonly cluster?: string; readonly yes: boolean; readonly wait: boolean; readonly timeout: number },
  key: string,
): Promise<ExitCode> {
  const where = flags.cluster === undefined ? "from all clusters" : `from ${flags.cluster}`;
  if (!(await confirm(session, `Delete deployment ${key} ${where}`, flags.yes))) return EXIT.failed;
  const { value } = await session.call("deleteDeployment", { parameters: { key }, query: { cluster: flags.cluster } });
  const pending = "pending_envs" in value ? (value.pending_envs ?? []) : [];
  const result = "status_url" in value ? "is being deleted" : "deleted";
  session.printOutcome({ kind: "deployment", name: key, result, pending_clusters: pending });
  if (pending.length > 0)
    session.printNote(
      `${session.colours.warn("pending:")} ${pending.join(", ")} cannot be reached; the deletion completes when it is reachable again\n`,
    );
  if (!flags.wait) return EXIT.done;
  if (flags.cluster !== undefined) throw new UsageError("--wait waits for all clusters", "omit --cluster or --wait");
  const { waitForDeletion } = await import("../observe/wait.ts");
  return waitForDeletion(session, key, flags.timeout);
}

export async function deploymentHistory(session: Session, _flags: object, key: string): Promise<void> {
  const revisions = await session.listAll("listDeploymentRevisions", { parameters: { key } });
  session.printList(revisions, deploymentRevisionView(tableContext(session)));
  noteRemovedRevisions(session, revisions);
  if (session.isHumanOutput) session.print(await repairsText(session, key));
}

/** The corrections of drift that the clusters remember; a deleted deployment has none. */
async function repairsText(session: Session, key: string): Promise<string> {
  try {
    const { value } = await session.call("getDeploymentStatus", { parameters: { key } });
    return driftText(value.clusters, session.environment.clock.now());
  } catch (thrown) {
    if (Fault.from(thrown).kind === "not-found") return "";
    throw thrown;
  }
}

export async function diffDeployment(
  session: Session,
  flags: { readonly from?: number; readonly to?: number },
  key: string,
): Promise<void> {
  const { value } = await session.call("diffDeployment", { parameters: { key }, query: diffQuery(flags) });
  const { changesText, resolvedChangesText } = await import("../../documents/changes-text.ts");
  const { colours } = session;
  session.printItem(value, textView("diff", key), () => {
    const written = changesText(value.changes, colours) || "  unchanged\n";
    const resolved = resolvedChangesText(value.resolved_changes, colours) || "Running units: unchanged\n";
    return `revision ${value.from} → ${value.to}\n${resolved}${colours.bold("As written:")}\n${written}`;
  });
}

export async function cancelDeployment(session: Session, _flags: object, key: string): Promise<void> {
  const { value } = await session.call("cancelDeployment", { parameters: { key } });
  session.printOutcome({
    kind: "deployment",
    name: key,
    result: `stopped: ${value.operation?.state ?? value.condition}`,
  });
}
