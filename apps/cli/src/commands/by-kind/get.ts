import { sleep } from "@oaas/foundation";
import { pluralOf } from "../../command/kinds.ts";
import { UsageError, type ExitCode } from "../../exit-code.ts";
import { fullName, machineText, type View } from "../../output/format.ts";
import { tableText, type Column, type TableOptions } from "../../output/table.ts";
import type { Session } from "../../session/session.ts";
import { missingObjects, readObjects, type ObjectGroup, type SelectionFlags } from "./read-objects.ts";
import { parseTargets, type Targets } from "../../command/targets.ts";

export interface GetFlags extends SelectionFlags {
  readonly watch: boolean;
  readonly noHeaders: boolean;
  readonly ignoreNotFound: boolean;
}

const POLL_MS = 1000;

/** Shows objects as `kubectl get` does: one, several, or all of some kinds. */
export async function get(
  session: Session,
  flags: GetFlags,
  ...args: readonly string[]
): Promise<ExitCode | undefined | void> {
  const targets = parseTargets(args);
  if (flags.watch && isAboutEvents(targets)) return followEvents(session, targets);
  if (flags.watch) return watchObjects(session, targets, flags);
  const { groups, missing } = await readObjects(session, targets, flags);
  const isOne = targets.of === "objects" && targets.objects.length === 1;
  const isFound = groups.some(({ items }) => items.length > 0);
  if (isFound || (targets.of === "kinds" && !session.isHumanOutput)) session.print(objectsText(session, groups, isOne));
  else if (missing.length === 0)
    session.printNote(`No ${groups.map(({ kind }) => pluralOf(kind)).join(" or ")} found.\n`);
  if (missing.length > 0 && !flags.ignoreNotFound) throw await missingObjects(session, missing, { isSuggested: true });
}

function isAboutEvents(targets: Targets): boolean {
  return targets.of === "kinds"
    ? targets.kinds.includes("event")
    : targets.objects.some(({ kind }) => kind === "event");
}

async function followEvents(session: Session, targets: Targets): Promise<ExitCode> {
  const names = targets.of === "objects" ? targets.objects.map(({ name }) => name) : [];
  if (names.length > 1) throw new UsageError("events can be watched of one object at a time", "name one object");
  const events = await import("../observe/events.ts");
  return events.followEvents(session, {}, names[0]);
}

/** The objects as one table per kind, or as one document: the object itself, or a list as kubectl prints it. */
function objectsText(session: Session, groups: readonly ObjectGroup[], isOne: boolean): string {
  const { format } = session;
  const names = groups.flatMap(({ view, items }) => items.map((item) => fullName(view, item)));
  if (format.as === "table" || format.as === "wide")
    return groupsText(groups, { isWide: format.as === "wide", hasHeaders: format.hasHeaders });
  const items =
    groups.length === 1
      ? (groups[0]?.items ?? [])
      : groups.flatMap(({ kind, items: all }) => all.map((item) => ({ kind, ...(item as object) })));
  return machineText(isOne ? items[0] : { kind: "List", items }, names, format);
}

/** Tables of several kinds are separated by an empty line, and their names start with the kind. */
function groupsText(groups: readonly ObjectGroup[], options: TableOptions): string {
  const tables = groups
    .filter(({ items }) => items.length > 0)
    .map(({ view, items }) => tableText(items, groups.length > 1 ? namedColumns(view) : view.columns, options));
  return tables.join("\n");
}

/** The columns of a view, with the name written as `deployment/shop-order`. */
function namedColumns(view: View<unknown>): readonly Column<unknown>[] {
  return view.columns.map((column) => ({
    ...column,
    cell: (item) => (column.cell(item) === view.nameOf(item) ? fullName(view, item) : column.cell(item)),
  }));
}

/** Prints the objects, then each one that changed, until Ctrl-C. */
async function watchObjects(session: Session, targets: Targets, flags: GetFlags): Promise<void> {
  const { environment, format } = session;
  let known: ReadonlyMap<string, string> | undefined;
  for (;;) {
    const { groups, missing } = await readObjects(session, targets, flags);
    if (known === undefined && missing.length > 0) throw await missingObjects(session, missing, { isSuggested: true });
    const states = new Map(
      groups.flatMap((group) => group.items.map((item) => [fullName(group.view, item), stateOf(item)])),
    );
    const changed = groups.map((group) => ({
      ...group,
      items: group.items.filter((item) => known?.get(fullName(group.view, item)) !== stateOf(item)),
    }));
    if (format.as === "table" || format.as === "wide") {
      const hasHeaders = known === undefined && format.hasHeaders;
      session.print(groupsText(changed, { isWide: format.as === "wide", hasHeaders }));
      for (const name of known?.keys() ?? []) if (!states.has(name)) session.print(`${name} deleted\n`);
    } else
      for (const { view, items } of changed)
        for (const item of items) session.print(machineText(item, [fullName(view, item)], format));
    known = states;
    await sleep(environment.timers, POLL_MS, environment.signal);
  }
}

/** Times of reports, which change without a change of the object. */
const REPORT_TIMES = new Set(["last_seen", "last_updated", "observed_at"]);

function stateOf(item: unknown): string {
  return JSON.stringify(item, (key, value: unknown) => (REPORT_TIMES.has(key) ? undefined : value));
}
