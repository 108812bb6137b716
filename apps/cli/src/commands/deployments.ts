import type { FindingWire, Reply } from "@oaas/contracts/rest";
import { EXIT, type ExitCode } from "../exit-code.ts";
import { stateText } from "../output/colours.ts";
import { tableText, percentText } from "../output/table.ts";
import { confirmed } from "../session/confirm.ts";
import { readyText } from "../session/roll-out.ts";
import type { Session } from "../session/session.ts";
import { deploymentRevisionView, deploymentView } from "../views.ts";
import { flagsOf } from "./packages.ts";

const look = (session: Session) => ({ now: session.world.clock.now(), colours: session.colours });
const asText = (kind: string, name: string) => ({ kind, nameOf: () => name, columns: [] });

export async function listDeployments(
  session: Session,
  flags: { readonly package?: string; readonly class?: string; readonly cluster?: string; readonly condition?: string },
  key?: string,
): Promise<void> {
  if (key !== undefined) return getDeployment(session, flags, key);
  const items = await session.all("listDeployments", {
    query: {
      package_name: flags.package,
      class_key: flags.class,
      target_cluster: flags.cluster,
      condition: flags.condition,
    },
  });
  session.list(items, deploymentView(look(session)));
}

export async function getDeployment(session: Session, _flags: object, key: string): Promise<void> {
  const { value } = await session.call("getDeployment", { parameters: { key } });
  session.item(value, deploymentView(look(session)));
}

export async function deploymentStatus(session: Session, _flags: object, key: string): Promise<void> {
  const { value } = await session.call("getDeploymentStatus", { parameters: { key } });
  session.item(value, asText("deployment", key), () => statusText(value, session));
}

function statusText(state: Reply<"getDeploymentStatus">["value"], { colours }: Session): string {
  const { operation } = state;
  const lines = [
    `${colours.bold(state.key)}  ${stateText(state.condition, colours)}  revision ${state.revision}`,
    ...(state.message === null ? [] : [state.message]),
    `availability: ${percentText(state.achieved_quorum_availability)}`,
    ...(operation === null
      ? []
      : [
          `operation: ${operation.kind} ${stateText(operation.state, colours)}, ${operation.done} of ${operation.total} steps`,
        ]),
    "",
  ];
  const clusters = tableText(state.clusters, [
    { header: "CLUSTER", cell: ({ cluster }) => cluster },
    { header: "STATE", cell: (each) => stateText(each.reachable ? each.condition : "Unreachable", colours) },
    { header: "READY", cell: readyText },
    { header: "UNIT", cell: ({ unit_id }) => unit_id },
    { header: "MESSAGE", cell: ({ message, error }) => error ?? message ?? "" },
  ]);
  return `${lines.join("\n")}\n${clusters}`;
}

export async function explainDeployment(
  session: Session,
  flags: { readonly cluster?: string },
  key: string,
): Promise<void> {
  const { value } = await session.call("explainDeployment", { parameters: { key }, query: { cluster: flags.cluster } });
  session.item(value, asText("explanation", key), () => {
    const { colours } = session;
    const head = `${value.summary} (${stateText(value.verdict, colours)})\n`;
    const advice = value.suggested_action === "" ? "" : `${colours.bold("fix:")} ${value.suggested_action}\n`;
    const clusters = value.clusters.map(({ cluster, finding, error }) => {
      const below = finding ? findingText(finding, 1, session) : `  ${error ?? "no information"}\n`;
      return `\n${colours.bold(cluster)}\n${below}`;
    });
    return head + advice + clusters.join("");
  });
}

/** Formats a finding and, indented below it, its causes. */
function findingText(finding: FindingWire, depth: number, session: Session): string {
  const { colours } = session;
  const { level, name, verdict, reason, message, suggested_action: action, causes } = finding;
  const indent = "  ".repeat(depth);
  const what = [reason, message].filter((words) => words !== "").join(": ");
  const line = `${indent}${level} ${name}  ${stateText(verdict, colours)} ${what}\n`;
  const advice = action === "" || causes.length > 0 ? "" : `${indent}  ${colours.dim(`fix: ${action}`)}\n`;
  return line + advice + causes.map((cause) => findingText(cause, depth + 1, session)).join("");
}

export async function deleteDeployment(
  session: Session,
  flags: { readonly cluster?: string; readonly yes: boolean },
  key: string,
): Promise<ExitCode> {
  const where = flags.cluster === undefined ? "from all clusters" : `from ${flags.cluster}`;
  if (!(await confirmed(session, `Delete deployment ${key} ${where}`, flags.yes))) return EXIT.failed;
  const { value } = await session.call("deleteDeployment", { parameters: { key }, query: { cluster: flags.cluster } });
  const pending = "pending_envs" in value ? (value.pending_envs ?? []) : [];
  const result = "status_url" in value ? "is being deleted" : "deleted";
  session.done({ kind: "deployment", name: key, result, pending_clusters: pending });
  if (pending.length > 0)
    session.note(
      `${session.colours.warn("pending:")} ${pending.join(", ")} cannot be reached; the deletion completes when it is reachable again\n`,
    );
  return EXIT.done;
}

export async function deploymentHistory(session: Session, _flags: object, key: string): Promise<void> {
  session.list(
    await session.all("listDeploymentRevisions", { parameters: { key } }),
    deploymentRevisionView(look(session)),
  );
}

export async function diffDeployment(
  session: Session,
  flags: { readonly from?: number; readonly to?: number },
  key: string,
): Promise<void> {
  const { value } = await session.call("diffDeployment", { parameters: { key }, query: flagsOf(flags) });
  const { changesText } = await import("../documents/changes-text.ts");
  session.item(
    value,
    asText("diff", key),
    () => `revision ${value.from} → ${value.to}\n${changesText(value.changes, session.colours)}`,
  );
}

export async function rollBackDeployment(
  session: Session,
  flags: { readonly to: number; readonly reason?: string },
  key: string,
): Promise<void> {
  const { to: revision, reason } = flags;
  const { value } = await session.call("rollBackDeployment", { parameters: { key }, body: { revision, reason } });
  session.done({ kind: "deployment", name: key, result: `${value.status}, back to revision ${revision}`, revision });
}

export async function cancelDeployment(session: Session, _flags: object, key: string): Promise<void> {
  const { value } = await session.call("cancelDeployment", { parameters: { key } });
  session.done({ kind: "deployment", name: key, result: `stopped: ${value.operation?.state ?? value.condition}` });
}
