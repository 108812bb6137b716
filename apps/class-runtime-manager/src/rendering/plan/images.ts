import type { EnvironmentConfigSpec } from "@oaas/contracts/crd";
import { err, ok, ROOT_PATH, type Result, type Violation } from "@oaas/foundation";
import { parseImagePrefix, parseImageReference, qualifiedImageName, type ImageReference } from "@oaas/models";

type Images = EnvironmentConfigSpec["images"];

/**
 * Applies the registry mirrors of the environment and checks its allowed registries. A checked image without a registry
 * gets the one that was checked, since a container runtime may be configured to search others.
 */
export function resolveImage(reference: string, images: Images): Result<string, Violation> {
  const { mirrors = [], allowed_registries: allowed } = images ?? {};
  const pulled = mirrorImage(reference, mirrors);
  if (allowed === undefined) return ok(pulled);
  const parsed = parseImageReference(pulled);
  if (parsed !== undefined && allowed.some((prefix) => matchesPrefix(qualifiedImageName(parsed), prefix))) {
    return ok(parsed.registry === undefined ? qualifiedImageName(parsed) + versionOf(parsed) : pulled);
  }
  return err({
    path: ROOT_PATH,
    message: `image ${pulled} is from a registry that the environment does not allow`,
    fix: `use an image under ${allowed.join(", ") || "(none is allowed)"}`,
  });
}

function mirrorImage(reference: string, mirrors: NonNullable<NonNullable<Images>["mirrors"]>): string {
  const parsed = mirrors.length === 0 ? undefined : parseImageReference(reference);
  if (parsed === undefined) return reference;
  const name = qualifiedImageName(parsed);
  const [longest] = mirrors
    .filter(({ from }) => matchesPrefix(name, from))
    .map(({ from, to }) => ({ length: parseImagePrefix(from)?.length ?? 0, to }))
    .sort((a, b) => b.length - a.length || (a.to < b.to ? -1 : 1));
  if (longest === undefined) return reference;
  return longest.to.replace(/\/$/, "") + name.slice(longest.length) + versionOf(parsed);
}

/** Whether a prefix ends at a component of the name: `host/acme` does not match `host/acme-evil`. */
function matchesPrefix(name: string, prefix: string): boolean {
  const parsed = parseImagePrefix(prefix);
  return parsed !== undefined && (name === parsed || name.startsWith(`${parsed}/`));
}

function versionOf({ tag, digest }: ImageReference): string {
  return (tag === undefined ? "" : `:${tag}`) + (digest === undefined ? "" : `@${digest}`);
}

/**
 * The stated policy, or the default of Kubernetes for this image. Kubernetes itself sets the default only once, for the
 * first image of an object.
 */
export function imagePullPolicy(image: string, stated: string | undefined): string {
  if (stated !== undefined) return stated;
  const [name = "", digest] = image.slice(image.lastIndexOf("/") + 1).split("@");
  const [, tag = digest === undefined ? "latest" : ""] = name.split(":");
  return tag === "latest" ? "Always" : "IfNotPresent";
}
