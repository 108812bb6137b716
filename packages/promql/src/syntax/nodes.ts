import type { SyntaxNode } from "@lezer/common";
import { parseString } from "./literals.ts";

export function textOf(query: string, node: SyntaxNode | undefined): string {
  return node ? query.slice(node.from, node.to) : "";
}

/** The children of a node without comments. */
export function childrenOf(node: SyntaxNode | undefined): SyntaxNode[] {
  const children: SyntaxNode[] = [];
  for (let child = node?.firstChild; child; child = child.nextSibling) {
    if (child.name !== "LineComment") children.push(child);
  }
  return children;
}

export function childOf(node: SyntaxNode, name: string): SyntaxNode | undefined {
  return node.getChild(name) ?? undefined;
}

/** The names in `(a, b)`. */
export function listLabels(node: SyntaxNode | undefined, query: string): string[] {
  return childrenOf(node).map((child) =>
    child.name === "QuotedLabelName" ? parseString(textOf(query, child)) : textOf(query, child),
  );
}
