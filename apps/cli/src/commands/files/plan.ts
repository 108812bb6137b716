import { Fault, isFault, type FaultCode } from "@oaas/foundation";
import { filterValid } from "./apply-document.ts";
import type { ResourceDocument } from "../../documents/document.ts";
import { readDocuments, sortByDependency } from "../../documents/read-documents.ts";
import { EXIT, UsageError, type ExitCode } from "../../exit-code.ts";
import { isRejectedSet, sendSet } from "./document-set.ts";
import { dryRunExitCode, rejectionText } from "./rejection-text.ts";
import { resolvedChangesText } from "../../documents/changes-text.ts";
import type { Colours } from "../../output/colours.ts";
import { clusterFailuresText, warningLines } from "../../output/availability-text.ts";
import { holdLines } from "../../output/hold-text.ts";
import { priceLines } from "../../output/price-text.ts";
import { planObjectsText } from "../../output/plan-objects-text.ts";
import { percentText, tableText } from "../../output/table.ts";
import type { Session } from "../../session/session.ts";
import type { Reply } from "@oaas/contracts/rest";

type Plan = Reply<"createPlan">["value"];

export interface PlanFlags {
  readonly filename: readonly string[];
  readonly clusterDown?: readonly string[];
  readonly availability?: number;
  readonly revision?: number;
  readonly objects: boolean;
}

/** Prints the plan of each deployment, optionally under what-if assumptions. Changes nothing. */
export async function plan(session: Session, flags: PlanFlags): Promise<ExitCode> {
  const all = await readDocuments(session.environment, flags.filename);
  const documents = all.filter(({ kind }) => kind === "deployment");
  if (documents.length === 0)
    throw new UsageError("no deployment in these files", "a deployment has the fields key and class_key");
  if ((await filterValid(session, all)).length < all.length) return EXIT.usage;
  const plans = (await planSet(session, all, flags)) ?? (await planEach(session, all, flags));
  if (typeof plans === "number") return plans;
  const view = { kind: "plan", nameOf: (each: Plan) => each.deployment_key, columns: [] };
  const [first] = plans;
  if (session.isHumanOutput) session.print(plans.map((each) => planText(each, session)).join("\n"));
  else if (first && plans.length === 1) session.printItem(first, view);
  else session.printList(plans, view);
  return EXIT.done;
}

/**
 * Plans each deployment with the objects it would change in every cluster. Returns the exit code when one cannot be
 * planned.
 */
export function planObjects(session: Session, all: readonly ResourceDocument[]): Promise<readonly Plan[] | ExitCode> {
  return planEach(session, all, { filename: [], objects: true });
}

const HELD: FaultCode = "OAAS_DEPLOYMENT_HELD";

/**
 * Plans all documents by a dry run, which accepts what `apply` accepts. Returns undefined when that is not possible: with
 * what-if flags or --objects, for a viewer, on an older package manager, and during a pause or a freeze window.
 */
async function planSet(
  session: Session,
  documents: readonly ResourceDocument[],
  flags: PlanFlags,
): Promise<readonly Plan[] | ExitCode | undefined> {
  if (flags.objects || Object.keys(assumptions(flags, undefined)).length > 0) return undefined;
  const sent = await sendSet(session, sortByDependency(documents), { dry_run: true }).catch((thrown: unknown) => {
    if (isFault(thrown, "permission-denied")) return undefined;
    throw thrown;
  });
  if (sent === undefined) return undefined;
  if (isRejectedSet(sent)) return sent.fault.code === HELD ? undefined : dryRunExitCode(sent.fault);
  return sent.flatMap(({ plan: planned }) => planned ?? []);
}

async function planEach(
  session: Session,
  all: readonly ResourceDocument[],
  flags: PlanFlags,
): Promise<readonly Plan[] | ExitCode> {
  const plans: Plan[] = [];
  for (const document of all.filter(({ kind }) => kind === "deployment")) {
    try {
      const { content } = document;
      const beside = all.find(({ kind, name }) => kind === "package" && name === content["package_name"]);
      const objects = flags.objects ? { objects: true } : {};
      const body = { deployment: content, ...assumptions(flags, beside), ...objects };
      plans.push((await session.call("createPlan", { body })).value);
    } catch (thrown) {
      if (session.environment.signal.aborted) throw thrown;
      const fault = Fault.from(thrown);
      session.environment.terminal.err(await rejectionText(session, document, fault));
      return dryRunExitCode(fault);
    }
  }
  return plans;
}

/** What-if flags, and the package of the same files unless a revision is given. */
function assumptions({ clusterDown = [], availability, revision }: PlanFlags, beside: ResourceDocument | undefined) {
  const assumed = {
    ...(beside === undefined || revision !== undefined ? {} : { package: beside.content }),
    ...(clusterDown.length === 0 ? {} : { clusters_down: clusterDown }),
    ...(availability === undefined ? {} : { availability }),
    ...(revision === undefined ? {} : { package_revision: revision }),
  };
  return Object.keys(assumed).length === 0 ? {} : { what_if: assumed };
}

/** The changes to the running deployment, first of all those of its state store. */
function planChanges({ changes }: Plan, colours: Colours): string[] {
  if (changes === null) return [];
  if (changes.length === 0) return ["The running deployment stays as it is.", ""];
  return ["Changes to the running deployment:", resolvedChangesText(changes, colours)];
}

/** The objects that the plan loses, before everything else; package managers of earlier releases do not say it. */
function stateLossLines({ state_loss: loss }: Partial<Pick<Plan, "state_loss">>, colours: Colours): string[] {
  return typeof loss === "string" ? [colours.bad(`Warning: ${loss}`)] : [];
}

/** What the clusters that are assumed down would take with them. */
function lossLines({ cluster_loss: loss }: Plan, colours: Colours): string[] {
  if (loss === null) return [];
  const running = loss.running.map(
    ({ cluster, functions }) =>
      `${cluster} (${functions.map(({ function_key, min_scale }) => `${function_key} ${min_scale}`).join(", ")})`,
  );
  return [
    colours.bold(`If ${loss.clusters_down.join(" and ")} ${loss.clusters_down.length === 1 ? "is" : "are"} down:`),
    `  result:        ${loss.message}`,
    `  keeps running: ${running.join("; ") || "nothing"}`,
    `  quorum:        ${quorumText(loss, colours)}`,
    `  availability:  at most ${percentText(loss.cluster_bound)}`,
    `  recovery:      ${loss.recovery}`,
    "",
  ];
}

function quorumText(
  { quorum, available_partitions, partitions }: NonNullable<Plan["cluster_loss"]>,
  colours: Colours,
): string {
  if (quorum === "stateless") return "not needed, the class has no state";
  const word = quorum === "kept" ? colours.good(quorum) : colours.warn(quorum);
  return `${word}, ${available_partitions} of ${partitions} partitions available`;
}

/** The namespace of the unit in a cluster, with the rule that chose it; package managers of earlier releases have none. */
function namespaceText({ units }: Plan, cluster: string): string {
  const { namespace } = units.find((unit) => unit.cluster === cluster) ?? {};
  return namespace?.name ? `${namespace.name} (${namespace.origin})` : "-";
}

function planText(value: Plan, { colours, format }: Session): string {
  const isWide = format.as === "wide";
  const head = [
    ...stateLossLines(value, colours),
    `${colours.bold(value.deployment_key)}: ${value.package_name}.${value.class_key}, revision ${value.package_revision}`,
    `availability: target ${percentText(value.target_availability)}, planned ${percentText(value.achieved_availability)} with ${value.replicas} ${value.replicas === 1 ? "replica" : "replicas"} (${value.algorithm})${value.best_effort ? colours.warn(", best effort") : ""}`,
    `cluster failures: ${clusterFailuresText(value.planned_availability)}`,
    ...warningLines(value.planned_availability, colours),
    ...priceLines(value.price),
    ...holdLines(value, colours),
    `digest: ${value.digest}`,
    "",
    ...lossLines(value, colours),
    ...planChanges(value, colours),
  ];
  const clusters = tableText(
    [...value.clusters],
    [
      { header: "CLUSTER", cell: ({ cluster }) => cluster },
      { header: "NAMESPACE", cell: ({ cluster }) => namespaceText(value, cluster) },
      { header: "CHOSEN", cell: ({ chosen }) => (chosen ? colours.good("yes") : colours.dim("no")) },
      { header: "AVAILABILITY", cell: ({ availability }) => percentText(availability) },
      {
        header: "WHY",
        cell: ({ chosen, reasons_for, reasons_against }) => (chosen ? reasons_for : reasons_against).join("; "),
      },
    ],
    { isWide },
  );
  const functions = tableText(
    value.units.flatMap(({ cluster, functions: all }) => all.map((each) => ({ cluster, ...each }))),
    [
      { header: "CLUSTER", cell: ({ cluster }) => cluster },
      { header: "FUNCTION", cell: ({ function_key }) => function_key },
      { header: "SCALE", cell: ({ min_scale, max_scale }) => `${min_scale}–${max_scale ?? "∞"}` },
      { header: "WHY", cell: ({ reason }) => reason },
    ],
    { isWide },
  );
  const objects = value.objects === undefined ? "" : `${planObjectsText(value.objects, colours, { isWide })}\n`;
  return `${head.join("\n")}\n${clusters}\n${functions}\n${objects}${value.explanation.trimEnd()}\n`;
}
