import { shown, type TextRule } from "./text-rule.ts";

/** The parts of a container image's reference. */
export interface ImageReference {
  /** Host with optional port; absent when the reference leaves the registry to the cluster. */
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

const inside = (form: RegExp): string => form.source.slice(1, -1);
const PART = inside(REPOSITORY_PART);
/** The same grammar in one expression, for generated documents. */
const PATTERN = `^(?:(?:${inside(REGISTRY)})/)?${PART}(?:/${PART})*(?::${inside(TAG)})?(?:@${inside(DIGEST)})?$`;

/** Takes a reference apart by the grammar that registries share; undefined when it is none. */
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
 * The first part is a host when nothing else could look like it: a dot, a port, `localhost`, or upper case. What looks so but can be no host
 * (`r.io_a`) is a part of the name, as registries have it.
 */
function isHost(part: string): boolean {
  return REGISTRY.test(part) && (part === "localhost" || /[.:]/.test(part) || part !== part.toLowerCase());
}

/** The image of a function's container. */
export const IMAGE_REFERENCE: TextRule = {
  what: "a container image reference",
  maxLength: MAX_LENGTH,
  pattern: PATTERN,
  objectionTo(text) {
    if (parseImageReference(text) !== undefined) return undefined;
    return {
      message: text === "" ? "is empty" : `${shown(text)} is not a container image reference`,
      fix: "write registry/name:tag or registry/name@sha256:…, with the name in lower case",
    };
  },
};
