import { quoteText, type TextRule } from "./text-rule.ts";

/** Parts of a container image reference. */
export interface ImageReference {
  /** Host with optional port; undefined if the cluster chooses the registry. */
  readonly registry?: string;
  readonly repository: string;
  readonly tag?: string;
  readonly digest?: string;
}

const REGISTRY = /^(?:[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?|\[[0-9a-fA-F:]{2,39}\])(?::\d{1,5})?$/;
const REPOSITORY_PART = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*$/;
const TAG = /^\w[\w.-]{0,127}$/;
const DIGEST = /^[a-z0-9]+(?:[.+_-][a-z0-9]+)*:[0-9a-fA-F]{32,128}$/;
const MAX_LENGTH = 512;
const DOCKER_HUB = "docker.io";

const inside = (form: RegExp): string => form.source.slice(1, -1);
const PART = inside(REPOSITORY_PART);
/** The grammar as one pattern, for generated documents. */
const PATTERN = `^(?:(?:${inside(REGISTRY)})/)?${PART}(?:/${PART})*(?::${inside(TAG)})?(?:@${inside(DIGEST)})?$`;

/** Parses a reference by the OCI grammar; undefined if it is invalid. */
export function parseImageReference(text: string): ImageReference | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  const [named = "", digest, ...more] = text.split("@");
  if (more.length > 0 || (digest !== undefined && !DIGEST.test(digest))) return undefined;

  const lastColon = named.lastIndexOf(":");
  const hasTag = lastColon > named.lastIndexOf("/");
  const tag = hasTag ? named.slice(lastColon + 1) : undefined;
  if (tag !== undefined && !TAG.test(tag)) return undefined;

  const path = (hasTag ? named.slice(0, lastColon) : named).split("/");
  const registry = path.length > 1 && isHost(path[0] ?? "") ? path.shift() : undefined;
  const repository = path.join("/");
  if (repository.length > 255 || !path.every((part) => REPOSITORY_PART.test(part))) return undefined;

  return {
    repository,
    ...(registry === undefined ? {} : { registry }),
    ...(tag === undefined ? {} : { tag }),
    ...(digest === undefined ? {} : { digest }),
  };
}

/**
 * Whether the first component is a host: it has a dot, a port or upper case, or is `localhost`. An invalid host such as
 * `r.io_a` is part of the name.
 */
function isHost(part: string): boolean {
  return REGISTRY.test(part) && (part === "localhost" || /[.:]/.test(part) || part !== part.toLowerCase());
}

/**
 * The registry and repository that container runtimes pull from, in one spelling: the host in lower case, and Docker
 * Hub (`docker.io/library/nginx`) for a reference without a registry.
 */
export function qualifiedImageName({ registry, repository }: ImageReference): string {
  const host = qualifiedHost(registry);
  const isOfficial = host === DOCKER_HUB && !repository.includes("/");
  return `${host}/${isOfficial ? "library/" : ""}${repository}`;
}

/**
 * Parses a prefix of image names, such as `ghcr.io`, `registry:5000/acme` or `acme` (of Docker Hub), to the spelling of
 * `qualifiedImageName`; undefined if it is invalid or has a tag or digest.
 */
export function parseImagePrefix(text: string): string | undefined {
  const prefix = text.endsWith("/") ? text.slice(0, -1) : text;
  if (isHost(prefix)) return qualifiedHost(prefix);
  const parsed = parseImageReference(prefix);
  if (parsed === undefined || parsed.tag !== undefined || parsed.digest !== undefined) return undefined;
  return `${qualifiedHost(parsed.registry)}/${parsed.repository}`;
}

function qualifiedHost(registry = DOCKER_HUB): string {
  const host = registry.toLowerCase();
  return host === "index.docker.io" ? DOCKER_HUB : host;
}

/** Container image of a function. */
export const IMAGE_REFERENCE: TextRule = {
  what: "a container image reference",
  maxLength: MAX_LENGTH,
  pattern: PATTERN,
  findProblem(text) {
    if (parseImageReference(text) !== undefined) return undefined;
    return {
      message: text === "" ? "is empty" : `${quoteText(text)} is not a container image reference`,
      fix: "use registry/name:tag or registry/name@sha256:…, with the name in lower case",
    };
  },
};
