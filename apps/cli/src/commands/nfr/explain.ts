import { explainRecommendation, explainSkip, type ExplainedRecommendation } from "@oaas/nfr/explanation";
import { UsageError } from "../../exit-code.ts";
import { stateText, type Colours } from "../../output/colours.ts";
import { amountText, shareText, valueText } from "../../output/nfr-text.ts";
import { tableText } from "../../output/table.ts";
import type { Session } from "../../session/session.ts";
import { readEnforcement, requireRuntimes, type Runtime } from "./find-runtimes.ts";
import { readText } from "./read-file.ts";
import { readNfrStatuses, type ClassNfrStatus, type EnforcementEntry, type MeasuredRequirement } from "./nfr-status.ts";

/** A recommendation with its explanation and what the enforcer does about it. */
interface Explanation extends ExplainedRecommendation {
  readonly component: string;
  readonly dimension: string;
  /** Why the enforcer acts or not. */
  readonly gates: readonly string[];
}

/** Explains the requirements, recommendations and decisions of a class, from the package manager or from a file. */
export async function explainRequirements(
  session: Session,
  flags: { readonly cluster?: string; readonly file?: string },
  subject?: string,
): Promise<void> {
  const statuses = await readStatuses(session, flags, subject);
  const explained = statuses.map((status) => ({ ...status, recommendations: explainAll(status) }));
  const view = { kind: "explanation", nameOf: ({ name }: { name: string }) => name, columns: [] };
  if (session.isHumanOutput) {
    session.print(statuses.map((status) => statusText(status, session.colours)).join("\n"));
  } else session.printList(explained, view);
}

async function readStatuses(
  session: Session,
  { cluster, file }: { readonly cluster?: string; readonly file?: string },
  subject: string | undefined,
): Promise<readonly ClassNfrStatus[]> {
  if (file !== undefined) {
    const statuses = readNfrStatuses(parse(file, await readText(session, file)));
    const selected = statuses.filter(({ name }) => subject === undefined || name === subject);
    if (selected.length > 0) return selected;
    throw new UsageError(`${file} has no class runtime${of(subject)}`, "use kubectl get classruntime NAME -o json");
  }
  if (subject === undefined) {
    throw new UsageError("the class is missing", "name a class such as shop.Order or a deployment, or pass --file");
  }
  const runtimes = await requireRuntimes(session, subject, cluster);
  return readNfrStatuses(await Promise.all(runtimes.map((runtime) => withEnforcement(session, runtime))));
}

/** Adds what lists leave out: the conditions and the state of enforcement. */
async function withEnforcement(session: Session, runtime: Runtime): Promise<unknown> {
  const report = await readEnforcement(session, runtime);
  if (report === undefined) return runtime;
  const { conditions, states } = report;
  return { ...runtime, status: { ...runtime.status, conditions, enforcement_state: states } };
}

function of(subject: string | undefined): string {
  return subject === undefined ? "" : ` of ${subject}`;
}

function parse(file: string, text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new UsageError(`${file} is not JSON`, "use kubectl get classruntime NAME -o json");
  }
}

function explainAll({ recommendations, enforcement }: ClassNfrStatus): readonly Explanation[] {
  return recommendations.map((one) => {
    const { component, dimension } = one;
    const entryOf = (name: string) =>
      enforcement.find((each) => each.component === component && each.dimension === name);
    const maximum = dimension === "replicas" ? entryOf("max_replicas") : undefined;
    const gates = [
      ...explainGates(entryOf(dimension)),
      ...(maximum === undefined ? [] : explainGates(maximum).map((line) => `maximum of the autoscaler: ${line}`)),
    ];
    return { component, dimension, ...explainRecommendation(one), gates };
  });
}

function explainGates(entry: EnforcementEntry | undefined): readonly string[] {
  if (entry === undefined) return ["nothing was applied so far"];
  const { lastSkip, lastAction, frozenUntil, directionChanges } = entry;
  return [
    ...(lastSkip === undefined ? [] : [`holds: ${explainSkip(lastSkip)}`]),
    ...(lastAction === undefined
      ? []
      : [
          `last change from ${valueText(lastAction.from, entry.dimension)} to ${valueText(lastAction.to, entry.dimension)} at ${lastAction.at} (${lastAction.lane})`,
        ]),
    ...(frozenUntil === undefined ? [] : [`frozen until ${frozenUntil}`]),
    ...(directionChanges === 0
      ? []
      : [`${directionChanges} ${directionChanges === 1 ? "change" : "changes"} of direction in the last hour`]),
  ];
}

function statusText(status: ClassNfrStatus, colours: Colours): string {
  const { name, cluster, conditions, requirements } = status;
  const head = colours.bold(cluster === undefined ? name : `${name} in ${cluster}`);
  const states = conditions.map(
    ({ type, status: state, reason, message }) =>
      `${type} ${stateText(state, colours)}${reason === "" ? "" : ` ${reason}`}: ${message}\n`,
  );
  const measured =
    requirements.length === 0 ? "No requirement is measured.\n" : `\n${requirementTable(requirements, colours)}`;
  const explained = explainAll(status).map((one) => explanationText(one, colours));
  const recommended = explained.length === 0 ? "\nNothing is recommended.\n" : explained.join("");
  return `${head}\n${states.join("")}${measured}${recommended}`;
}

function requirementTable(requirements: readonly MeasuredRequirement[], colours: Colours): string {
  return tableText(requirements, [
    { header: "REQUIREMENT", cell: ({ requirement }) => requirement },
    { header: "COMPONENT", cell: ({ component }) => component || "-" },
    { header: "STATUS", cell: ({ status }) => stateText(status, colours) },
    { header: "MEASURED", cell: ({ observed, unit }) => amountText(observed, unit) },
    { header: "REQUIRED", cell: ({ required, unit }) => amountText(required, unit) },
    { header: "SINCE", cell: ({ since }) => since ?? "-" },
    { header: "BUDGET LEFT", cell: ({ budgetLeft }) => shareText(budgetLeft) },
    { header: "BURN RATES", cell: ({ burnRates }) => burnText(burnRates) },
    { header: "REASON", cell: ({ reason }) => reason ?? "" },
  ]);
}

/** The windows that were measured, such as `1h/5m 5/4.2`. */
function burnText(rates: MeasuredRequirement["burnRates"]): string {
  const known = rates.filter(({ long, short }) => long !== undefined || short !== undefined);
  return (
    known.map(({ windows, long, short }) => `${windows} ${valueText(long, "")}/${valueText(short, "")}`).join(", ") ||
    "-"
  );
}

function explanationText(one: Explanation, colours: Colours): string {
  const section = (title: string, lines: readonly string[]) =>
    lines.length === 0 ? "" : `  ${title.padEnd(9)} ${lines.join(`\n${" ".repeat(12)}`)}\n`;
  return (
    `\n${colours.bold(`${one.component} ${one.dimension}`)}: ${one.summary}\n` +
    section("signals", one.signals) +
    section("model", one.model) +
    section("rules", one.rules) +
    section("gates", one.gates) +
    section("changes", one.changes)
  );
}
