/** The target of a path below `/api` or `/apis`. */
export interface ResourcePath {
  readonly group: string;
  readonly version: string;
  /** Missing when the path ends before it. */
  readonly resource?: string;
  readonly namespace?: string;
  readonly name?: string;
  /** The rest behind the name, with slashes. */
  readonly subresource?: string;
  /** The deprecated form `/api/v1/watch/…`. */
  readonly isOldWatch: boolean;
}

/** Subresources of a namespace, not resources inside it. */
const NAMESPACE_PARTS: ReadonlySet<string> = new Set(["status", "finalize"]);

/** Parses a path; undefined without group and version. */
export function parseResourcePath(path: string): ResourcePath | undefined {
  const [root, ...rest] = path.split("/").filter((part) => part !== "");
  if (root !== "api" && root !== "apis") return undefined;
  const parts = decodeSegments(rest);
  const group = root === "api" ? "" : parts?.shift();
  const version = parts?.shift();
  if (parts === undefined || group === undefined || version === undefined) return undefined;
  const isOldWatch = parts[0] === "watch";
  if (isOldWatch) parts.shift();
  const base = { group, version, isOldWatch };
  const [first, second, third] = parts;
  if (first === undefined) return base;
  const isNamespaced = first === "namespaces" && third !== undefined && !NAMESPACE_PARTS.has(third);
  if (!isNamespaced) return { ...base, ...readSegments(parts) };
  return { ...base, namespace: second ?? "", ...readSegments(parts.slice(2)) };
}

function readSegments([resource = "", name, ...rest]: readonly string[]): Pick<
  ResourcePath,
  "resource" | "name" | "subresource"
> {
  return {
    resource,
    ...(name === undefined ? {} : { name }),
    ...(rest.length === 0 ? {} : { subresource: rest.join("/") }),
  };
}

function decodeSegments(parts: readonly string[]): string[] | undefined {
  try {
    return parts.map(decodeURIComponent);
  } catch {
    // A path with an invalid encoding has no target.
    return undefined;
  }
}
