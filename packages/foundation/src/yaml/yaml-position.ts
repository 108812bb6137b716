import { isAlias, isCollection, isMap, isPair, isScalar, isSeq, type Document, type LineCounter } from "yaml";

/** Place in a text; both from 1. */
export interface YamlPosition {
  readonly line: number;
  readonly column: number;
}

/** Place of the key or list item at a path. Where the path leaves the text, as below an alias: of the last part found. */
export function yamlPosition(
  document: Document.Parsed,
  lines: LineCounter,
  path: readonly (string | number)[],
): YamlPosition {
  const offset = offsetAt(document, path);
  const { line, col } = lines.linePos(offset);
  return { line, column: col };
}

function offsetAt(document: Document.Parsed, path: readonly (string | number)[]): number {
  let node: unknown = document.contents;
  let offset = document.contents?.range[0] ?? 0;
  for (const key of path) {
    if (isAlias(node)) node = node.resolve(document);
    const found = isMap(node)
      ? node.items.find((item) => isScalar(item.key) && String(item.key.value) === String(key))
      : isSeq(node)
        ? node.items[Number(key)]
        : undefined;
    if (found === undefined) return offset;
    const start: unknown = isPair(found) ? found.key : found;
    if (isScalar(start) || isCollection(start) || isAlias(start)) offset = start.range?.[0] ?? offset;
    node = isPair(found) ? found.value : found;
  }
  return offset;
}

/** The scalar at a path as it is written, without quotes: `012` and not 12. Undefined for anything else. */
export function yamlSource(document: Document.Parsed, path: readonly (string | number)[]): string | undefined {
  const node: unknown = document.getIn(path, true);
  return isScalar(node) && node.source !== undefined ? node.source : undefined;
}
