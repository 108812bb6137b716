import type { Reply } from "@oaas/contracts/rest";
import type { Colours } from "./colours.ts";
import { tableText } from "./table.ts";

type PlanObjects = NonNullable<Reply<"createPlan">["value"]["objects"]>;
type ObjectChange = PlanObjects["changes"][number];

const SIGNS: Readonly<Record<string, string>> = { create: "+", update: "~", delete: "-", blocked: "!" };

/** Formats the objects that a plan changes: a table by cluster, then one difference over all clusters. */
export function planObjectsText(objects: PlanObjects, colours: Colours, { isWide = false } = {}): string {
  const table = tableText(
    [...objects.clusters],
    [
      { header: "CLUSTER", cell: ({ cluster }) => cluster },
      { header: "CREATE", cell: ({ counts, state }) => (state === "rendered" ? String(counts.create) : "?") },
      { header: "UPDATE", cell: ({ counts, state }) => (state === "rendered" ? String(counts.update) : "?") },
      { header: "DELETE", cell: ({ counts, state }) => deletedText(state, counts.delete) },
      { header: "UNCHANGED", cell: ({ counts, state }) => (state === "rendered" ? String(counts.unchanged) : "?") },
      { header: "TEMPLATE", cell: ({ template }) => template ?? "" },
      {
        header: "NOTES",
        cell: ({ state, message, warnings }) =>
          [...(message === null ? [] : [`${state}: ${message}`]), ...warnings].join("; "),
      },
    ],
    { isWide },
  );
  const more = objects.more_changes === 0 ? [] : [`  … and ${objects.more_changes} more`];
  return [
    `${colours.bold("Objects:")}\n${table}`,
    ...objects.changes.flatMap((change) => changeLines(change, objects.clusters.length, colours)),
    ...more,
    "",
  ].join("\n");
}

function deletedText(state: string, count: number): string {
  if (state === "removed") return "all";
  return state === "rendered" ? String(count) : "?";
}

function changeLines(
  { change, kind, name, clusters, fields, more_fields: more, message }: ObjectChange,
  count: number,
  colours: Colours,
): string[] {
  const where = clusters.length === count && count > 1 ? "every cluster" : clusters.join(", ");
  const line = `${SIGNS[change] ?? "~"} ${kind} ${name} (${where})${message === null ? "" : `: ${message}`}`;
  const paint = change === "create" ? colours.good : change === "update" ? colours.bold : colours.bad;
  return [
    `  ${paint(line)}`,
    ...fields.flatMap(({ path, was, now }) => [
      ...(was === "" ? [] : [colours.bad(`      - ${path}: ${was}`)]),
      ...(now === "" ? [] : [colours.good(`      + ${path}: ${now}`)]),
    ]),
    ...(more === 0 ? [] : [`      … and ${more} more`]),
  ];
}
