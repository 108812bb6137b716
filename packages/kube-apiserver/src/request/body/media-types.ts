import { err, ok, type Result } from "@oaas/foundation";
import type { Status } from "@oaas/kube-core";
import { formNotAccepted, notAcceptable } from "../response/status-errors.ts";

/** The requested response form. */
export interface Representation {
  readonly syntax: "json" | "yaml";
  /** A substitute for the object: a table, or metadata only. */
  readonly as?: "Table" | "PartialObjectMetadata" | "PartialObjectMetadataList";
  readonly isPretty: boolean;
}

interface MediaRange {
  readonly type: string;
  readonly parameters: Readonly<Record<string, string>>;
}

const SYNTAXES: Readonly<Record<string, Representation["syntax"]>> = {
  "*/*": "json",
  "application/json": "json",
  "application/yaml": "yaml",
};

const CONVERSIONS: ReadonlySet<string> = new Set(["Table", "PartialObjectMetadata", "PartialObjectMetadataList"]);

/** The form of an Accept header: the first supported one. */
export function negotiateRepresentation(
  headers: Readonly<Record<string, string>>,
  query: URLSearchParams,
  { isWatch = false, isCollection = false }: { readonly isWatch?: boolean; readonly isCollection?: boolean } = {},
): Result<Representation, Status> {
  const accept = headers["accept"] ?? "";
  let isKnownType = false;
  for (const range of parseMediaRanges(accept === "" ? "*/*" : accept)) {
    const syntax = Object.hasOwn(SYNTAXES, range.type) ? SYNTAXES[range.type] : undefined;
    isKnownType ||= syntax !== undefined || range.type === "application/vnd.kubernetes.protobuf";
    const { as, g, v } = range.parameters;
    if (syntax === undefined || (as !== undefined && !isConversion(as, g, v))) continue;
    // YAML cannot be streamed.
    if (isWatch && syntax === "yaml") continue;
    return ok({ syntax, isPretty: isPretty(headers, query), ...(isKnownConversion(as) ? { as } : {}) });
  }
  return err(isKnownType ? formNotAccepted(isWatch) : notAcceptable(isCollection));
}

function isKnownConversion(as: string | undefined): as is NonNullable<Representation["as"]> {
  return as !== undefined && CONVERSIONS.has(as);
}

function isConversion(as: string, group: string | undefined, version: string | undefined): boolean {
  return CONVERSIONS.has(as) && group === "meta.k8s.io" && (version === "v1" || version === "v1beta1");
}

/** Browsers and curl get readable output, as from the real server. */
function isPretty(headers: Readonly<Record<string, string>>, query: URLSearchParams): boolean {
  const pretty = query.get("pretty");
  if (pretty !== null) return pretty === "" || pretty === "1" || pretty === "true";
  const agent = headers["user-agent"] ?? "";
  return agent.startsWith("curl") || agent.startsWith("Wget") || agent.startsWith("Mozilla/5.0");
}

/** The ranges of an Accept header, best first. */
export function parseMediaRanges(accept: string): readonly MediaRange[] {
  return accept
    .split(",")
    .map((text, index) => ({ ...parseMediaRange(text), index }))
    .sort((a, b) => getQuality(b) - getQuality(a) || a.index - b.index);
}

/** A media type and its parameters. */
export function parseMediaRange(text: string): MediaRange {
  const [type = "", ...parameters] = text.split(";").map((part) => part.trim());
  return {
    type: type.toLowerCase(),
    parameters: Object.fromEntries(
      parameters.map((parameter) => {
        const [name = "", value = ""] = parameter.split("=", 2);
        return [name, value] as const;
      }),
    ),
  };
}

function getQuality({ parameters }: MediaRange): number {
  const { q } = parameters;
  return q === undefined ? 1 : Number(q) || 0;
}
