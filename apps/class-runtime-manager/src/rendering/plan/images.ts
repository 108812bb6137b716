import type { EnvironmentConfigSpec } from "@oaas/contracts/crd";
import { err, ok, ROOT_PATH, type Result, type Violation } from "@oaas/foundation";

type Images = EnvironmentConfigSpec["images"];

/** Applies the registry mirrors of the environment and checks its allowed registries. */
export function resolveImage(reference: string, images: Images): Result<string, Violation> {
  const mirror = (images?.mirrors ?? [])
    .filter(({ from }) => hasImagePrefix(reference, from))
    .sort((a, b) => b.from.length - a.from.length || (a.from < b.from ? -1 : 1))[0];
  const pulled = mirror === undefined ? reference : mirror.to + reference.slice(mirror.from.length);
  const allowed = images?.allowed_registries;
  if (allowed === undefined || allowed.some((prefix) => hasImagePrefix(pulled, prefix))) return ok(pulled);
  return err({
    path: ROOT_PATH,
    message: `image ${pulled} is from a registry that the environment does not allow`,
    fix: `use an image under ${allowed.join(", ") || "(none is allowed)"}`,
  });
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

/** Whether a prefix ends at a part of the reference: `host/acme` does not match `host/acme-evil`. */
function hasImagePrefix(reference: string, prefix: string): boolean {
  if (!reference.startsWith(prefix)) return false;
  return prefix.endsWith("/") || ["", "/", ":", "@"].includes(reference.charAt(prefix.length));
}
