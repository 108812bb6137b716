import { parseYaml, YAML_FILE_LIMITS, yamlValue } from "@oaas/foundation/yaml";
import { isCollection, isMap, isNode, isScalar, type Document, type LineCounter, type ParsedNode } from "yaml";

export type DocumentKind = "package" | "deployment";

/** One package or deployment document of a file, with source locations. */
export interface ResourceDocument {
  readonly kind: DocumentKind;
  /** The package's name or the deployment's key. */
  readonly name: string;
  readonly content: Readonly<Record<string, unknown>>;
  readonly source: string;
  /** `file:line:column` of a JSONPath, or of its nearest existing parent. */
  locationOf(path: string): string;
}

/** The documents of a text, and its parse errors with their locations. */
export interface ParsedDocuments {
  readonly documents: readonly ResourceDocument[];
  readonly errors: readonly string[];
}

/** Parses all documents of a text and skips empty ones. An invalid document does not hide the others. */
export function parseDocuments(text: string, source: string): ParsedDocuments {
  const { documents: parsed, exceeded, lines } = parseYaml(text, { limits: YAML_FILE_LIMITS });
  const documents: ResourceDocument[] = [];
  const failures: string[] = [];
  if (exceeded !== undefined)
    failures.push(`${locationText(source, lines, exceeded.offset)}: ${exceeded.message}; ${exceeded.fix}`);
  for (const { document, problems } of parsed) {
    if (problems.length > 0)
      failures.push(
        ...problems.map(
          ({ offset, message, fix }) => `${locationText(source, lines, offset)}: not valid YAML: ${message}; ${fix}`,
        ),
      );
    else if (hasContent(document)) {
      const read = toResource(document, lines, source);
      if (typeof read === "string") failures.push(read);
      else documents.push(read);
    }
  }
  return { documents, errors: failures };
}

/** Whether the document has content besides separators and comments. */
function hasContent({ contents }: Document.Parsed): boolean {
  return contents !== null && !(isScalar(contents) && contents.value === null);
}

/** Returns the document, or an error message. */
function toResource(document: Document.Parsed, lines: LineCounter, source: string): ResourceDocument | string {
  const { contents } = document;
  const at = (offset: number): string => locationText(source, lines, offset);
  if (!isMap(contents)) return `${at(contents?.range[0] ?? 0)}: a document must be a map: ${EXPECTED}`;
  const built = yamlValue(document, YAML_FILE_LIMITS);
  if (!built.ok) return `${at(contents.range[0])}: ${built.message}; ${built.fix}`;
  const content = built.value as Record<string, unknown>;
  if ("apiVersion" in content)
    return `${at(contents.range[0])}: this is a Kubernetes object: apply it with kubectl apply`;
  const kind = kindOf(content);
  const name = content[kind === "package" ? "name" : "key"];
  if (kind === undefined || typeof name !== "string" || name === "") {
    return `${at(contents.range[0])}: this is neither a package nor a deployment: ${EXPECTED}`;
  }
  return { kind, name, content, source, locationOf: (path) => at(offsetOf(contents, path)) };
}

const EXPECTED = "a package has a name, a deployment has a key";

function kindOf(content: Readonly<Record<string, unknown>>): DocumentKind | undefined {
  if ("key" in content || "class_key" in content) return "deployment";
  return "name" in content ? "package" : undefined;
}

function locationText(source: string, lines: LineCounter, offset: number): string {
  const { line, col } = lines.linePos(offset);
  return `${source}:${line}:${col}`;
}

const STEPS = /\.([A-Za-z_]\w*)|\['((?:[^'\\]|\\.)*)'\]|\[(\d+)\]/g;

/** The offset of a JSONPath, or of its nearest existing parent. */
function offsetOf(root: ParsedNode, path: string): number {
  let node: unknown = root;
  let offset = root.range[0];
  for (const [, name, quoted, index] of path.matchAll(STEPS)) {
    const key = name ?? quoted?.replaceAll(/\\(.)/g, "$1") ?? Number(index);
    const next: unknown = isCollection(node) ? node.get(key, true) : undefined;
    if (!isNode(next) || !next.range) return offset;
    node = next;
    [offset] = next.range;
  }
  return offset;
}
