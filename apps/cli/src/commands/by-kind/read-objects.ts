import { Fault, isFault, nearestName } from "@oaas/foundation";
import { pluralOf, type KindName } from "../../command/kinds.ts";
import { EXIT, ReportedFault, UsageError } from "../../exit-code.ts";
import type { View } from "../../output/format.ts";
import type { Session } from "../../session/session.ts";
import { READERS, type KindReader, type ListedKind } from "./readers.ts";
import { parseFieldSelector, parseLabelSelector, sortByPath } from "./selectors.ts";
import type { ObjectReference, Targets } from "../../command/targets.ts";

export interface SelectionFlags {
  readonly selector?: string;
  readonly fieldSelector?: string;
  readonly namespace?: string;
  readonly allNamespaces: boolean;
  readonly sortBy?: string;
  readonly showLabels: boolean;
}

/** The selected objects of one kind. */
export interface ObjectGroup {
  readonly kind: ListedKind;
  readonly view: View<unknown>;
  readonly items: readonly unknown[];
}

export interface SelectedObjects {
  readonly groups: readonly ObjectGroup[];
  readonly missing: readonly ObjectReference[];
}

/** Reads the objects that the arguments and selectors name, grouped by kind. */
export async function readObjects(session: Session, targets: Targets, flags: SelectionFlags): Promise<SelectedObjects> {
  const kinds = targets.of === "kinds" ? targets.kinds : [...new Set(targets.objects.map(({ kind }) => kind))];
  if (targets.of === "objects" && (flags.selector !== undefined || flags.fieldSelector !== undefined))
    throw new UsageError("a selector cannot be combined with names", "leave out the names or the selector");
  const missing: ObjectReference[] = [];
  const groups: ObjectGroup[] = [];
  for (const kind of kinds.map(listedKind)) {
    const reader = READERS[kind];
    noteNamespace(session, kind, flags);
    const found =
      targets.of === "kinds"
        ? await reader.list(session)
        : await getNamed(
            session,
            reader,
            targets.objects.filter((object) => object.kind === kind),
            missing,
          );
    groups.push({ kind, view: viewOf(session, reader, flags), items: await select(session, kind, found, flags) });
  }
  return { groups, missing };
}

/** The error for objects that do not exist. Exits with 1, as kubectl does. */
export async function missingObjects(
  session: Session,
  missing: readonly ObjectReference[],
  { isSuggested }: { readonly isSuggested: boolean },
): Promise<ReportedFault> {
  const [{ kind, name } = { kind: "deployment" as KindName, name: "" }] = missing;
  const message = missing.map((each) => `${each.kind} "${each.name}" was not found`).join("; ");
  const fault = new Fault({ kind: "not-found", resource: kind, name }, message);
  const list = `see oaas get ${pluralOf(kind)}`;
  const nearest = isSuggested ? await nearestNames(session, missing) : [];
  const hint = nearest.length === 0 ? list : `did you mean ${nearest.join(" and ")}? ${list}`;
  return new ReportedFault(fault, hint, EXIT.failed);
}

export function listedKind(kind: KindName): ListedKind {
  if (kind !== "event") return kind;
  throw new UsageError("events are streamed, not stored", "use oaas events, or oaas get events --watch");
}

/** The nearest existing names of missing objects. */
async function nearestNames(session: Session, missing: readonly ObjectReference[]): Promise<readonly string[]> {
  const nearest = missing.map(async ({ kind, name }) => nearestName(name, await namesOf(session, kind)));
  return [...new Set((await Promise.all(nearest)).filter((name) => name !== undefined))];
}

/** The names of all objects of a kind. */
async function namesOf(session: Session, kind: KindName): Promise<readonly string[]> {
  const reader = READERS[listedKind(kind)];
  const { nameOf } = reader.view({ now: 0, colours: session.colours });
  return (await reader.list(session)).map(nameOf);
}

async function getNamed(
  session: Session,
  reader: KindReader,
  objects: readonly ObjectReference[],
  missing: ObjectReference[],
): Promise<readonly unknown[]> {
  const found: unknown[] = [];
  for (const object of objects) {
    try {
      found.push(await reader.get(session, object.name));
    } catch (thrown) {
      if (!isFault(thrown, "not-found")) throw thrown;
      missing.push(object);
    }
  }
  return found;
}

async function select(
  session: Session,
  kind: ListedKind,
  found: readonly unknown[],
  { selector, fieldSelector, namespace, sortBy, showLabels }: SelectionFlags,
): Promise<readonly unknown[]> {
  const { labelsOf, withLabels, namespacesOf } = READERS[kind];
  let items = found;
  if (selector !== undefined && labelsOf === undefined)
    throw new UsageError(
      `${pluralOf(kind)} have no labels`,
      "use --field-selector, such as --field-selector package_name=shop; clusters have labels and packages have tags",
    );
  if ((selector !== undefined || showLabels) && withLabels)
    items = await Promise.all(items.map((item) => withLabels(session, item)));
  if (selector !== undefined && labelsOf) {
    const matches = parseLabelSelector(selector);
    items = items.filter((item) => matches(labelsOf(item)));
  }
  if (fieldSelector !== undefined) items = items.filter(parseFieldSelector(fieldSelector));
  if (namespace !== undefined && namespacesOf) items = items.filter((item) => namespacesOf(item).includes(namespace));
  return sortBy === undefined ? items : sortByPath(items, sortBy, pluralOf(kind));
}

/** Only deployments and class runtimes are in namespaces, those of their clusters. */
function noteNamespace(session: Session, kind: ListedKind, { namespace }: SelectionFlags): void {
  if (namespace !== undefined && READERS[kind].namespacesOf === undefined)
    session.printNote(`note: ${pluralOf(kind)} have no namespace; --namespace has no effect\n`);
}

function viewOf({ environment, colours }: Session, reader: KindReader, flags: SelectionFlags): View<unknown> {
  const view = reader.view({ now: environment.clock.now(), colours });
  const { labelsOf, namespacesOf } = reader;
  const labels = { header: "LABELS", cell: (item: unknown) => labelsText(labelsOf?.(item) ?? {}) };
  const namespace = { header: "NAMESPACE", cell: (item: unknown) => namespacesOf?.(item).join(", ") || "-" };
  return {
    ...view,
    columns: [
      ...(flags.allNamespaces && namespacesOf ? [namespace] : []),
      ...view.columns,
      ...(flags.showLabels ? [labels] : []),
    ],
  };
}

function labelsText(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([key, value]) => (value === "" ? key : `${key}=${value}`));
  return pairs.toSorted().join(",") || "<none>";
}
