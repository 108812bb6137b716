import type { Reply } from "@oaas/contracts/rest";
import { stateText } from "../../output/colours.ts";
import type { Session } from "../../session/session.ts";
import { classView, functionView, runtimeView } from "../../output/views.ts";

export async function listClasses(session: Session, _flags: object, filter?: string): Promise<void> {
  session.printList(await session.listAll("listClasses", { query: { filter } }), classView());
}

export async function listFunctions(session: Session, _flags: object, filter?: string): Promise<void> {
  session.printList(await session.listAll("listFunctions", { query: { filter } }), functionView());
}

export async function listRuntimes(
  session: Session,
  flags: { readonly package?: string; readonly class?: string; readonly cluster?: string },
  id?: string,
): Promise<void> {
  const view = runtimeView({ now: session.environment.clock.now(), colours: session.colours });
  if (id !== undefined) {
    const { value } = await session.call("getClassRuntime", { parameters: { id }, query: { cluster: flags.cluster } });
    session.printItem(value, view);
    return;
  }
  const query = { package_name: flags.package, class_key: flags.class, cluster: flags.cluster };
  session.printList(await session.listAll("listClassRuntimes", { query }), view);
}

type Node = Reply<"getTopology">["value"]["nodes"][number];

/** One node: type, name, health and replicas. The wire calls clusters environments. */
function nodeText(id: string, node: Node | undefined, { colours }: Session): string {
  const name = id.split("::").at(-1) ?? id;
  if (node === undefined) return `? ${name}`;
  const { node_type: type, status, metadata } = node;
  const health = stateText(metadata["health"] ?? status, colours);
  return [`${type === "environment" ? "cluster" : type} ${name}`, health, metadata["replicas"] ?? ""]
    .join("  ")
    .trimEnd();
}

/** Prints the topology graph as a tree. */
export async function topology(session: Session): Promise<void> {
  const { value } = await session.call("getTopology");
  session.printItem(value, { kind: "topology", nameOf: () => "topology", columns: [] }, () => {
    const children = Map.groupBy(value.edges, ({ from_id }) => from_id);
    const below = new Set(value.edges.map(({ to_id }) => to_id));
    const nodes = new Map(value.nodes.map((node) => [node.id, node]));
    const lines: string[] = [];
    const draw = (id: string, lead: string, isLast: boolean, depth: number, above: ReadonlySet<string>): void => {
      const node = nodes.get(id);
      const mark = depth === 0 ? "" : isLast ? "└─ " : "├─ ";
      lines.push(`${lead}${mark}${nodeText(id, node, session)}`);
      if (above.has(id)) return;
      const inner = depth === 0 ? "" : `${lead}${isLast ? "   " : "│  "}`;
      const all = children.get(id) ?? [];
      all.forEach(({ to_id }, index) =>
        draw(to_id, inner, index === all.length - 1, depth + 1, new Set([...above, id])),
      );
    };
    for (const { id } of value.nodes) if (!below.has(id)) draw(id, "", true, 0, new Set());
    return lines.length === 0 ? "Nothing is deployed.\n" : `${lines.join("\n")}\n`;
  });
}
