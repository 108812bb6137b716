import { pascalCase } from "@oaas/contracts/rest";
import type { ClassRuntime } from "@oaas/models";
import type { Ordered } from "@oaas/storage";
import { patternMatcher, sortOrder } from "../paging.ts";
import type { UnitReport } from "../ports.ts";
import type { RuntimeListQuery } from "../use-cases.ts";
import type { RuntimeView } from "./runtime-view.ts";

type RuntimeOrder = "id" | "package_name" | "class_key" | "status" | "updated_at";

const SORT_TEXTS: Readonly<Record<RuntimeOrder, (report: UnitReport) => string>> = {
  id: ({ unitId }) => unitId,
  package_name: ({ runtime }) => runtime.packageName,
  class_key: ({ runtime }) => runtime.classKey,
  status: ({ condition }) => pascalCase(condition),
  updated_at: ({ runtime }) => runtime.updatedAt,
};

/** The direction of a list of class runtimes; by cluster and unit id unless sorted. */
export function runtimeOrder(sort: string | undefined): { readonly order: string; readonly descending: boolean } {
  return { order: "cluster", descending: false, ...sortOrder(sort, "") };
}

/** Reports that match the filter, in the order of the query. `reports` are by cluster and unit id. */
export function orderRuntimes(
  reports: readonly UnitReport[],
  { filter, sort }: Pick<RuntimeListQuery, "filter" | "sort">,
): Ordered<ClassRuntime> {
  const { order, descending } = runtimeOrder(sort);
  const textOf = order === "cluster" ? undefined : SORT_TEXTS[order as RuntimeOrder];
  const fits = filter === undefined ? undefined : patternMatcher(filter);
  const matching = fits === undefined ? reports : reports.filter(({ unitId }) => fits(unitId));
  const ordered = textOf === undefined ? matching : groupInOrder(matching, textOf);
  const directed = descending ? ordered.toReversed() : ordered;
  return { keys: directed.map((report) => keyOf(report, textOf)), items: directed.map(({ runtime }) => runtime) };
}

/** Reports by a text; equal ones keep their order. Far fewer comparisons than sorting the reports: most texts repeat. */
function groupInOrder(reports: readonly UnitReport[], textOf: (report: UnitReport) => string): readonly UnitReport[] {
  const groups = Map.groupBy(reports, textOf);
  return [...groups.keys()].sort().flatMap((text) => groups.get(text) ?? []);
}

function keyOf(report: UnitReport, textOf: ((report: UnitReport) => string) | undefined): string {
  const { runtime, unitId, namespace = "" } = report;
  return [...(textOf === undefined ? [] : [textOf(report)]), runtime.cluster ?? "", unitId, namespace].join("\u0000");
}

/** Limit of kept lists. */
const MAX_LISTS = 16;

/** Ordered lists of class runtimes, kept until a unit changes: pages of a table do not sort again. */
export class RuntimeLists<List> {
  readonly #view: Pick<RuntimeView, "version">;
  readonly #lists = new Map<string, List>();
  #version = -1;

  constructor(view: Pick<RuntimeView, "version">) {
    this.#view = view;
  }

  /** The list of this name, created when it is not kept. */
  async get(name: string, create: () => Promise<List>): Promise<List> {
    const { version } = this.#view;
    if (version !== this.#version || this.#lists.size >= MAX_LISTS) this.#lists.clear();
    this.#version = version;
    const kept = this.#lists.get(name);
    if (kept !== undefined) return kept;
    const created = await create();
    if (this.#view.version === version && this.#version === version) this.#lists.set(name, created);
    return created;
  }
}
