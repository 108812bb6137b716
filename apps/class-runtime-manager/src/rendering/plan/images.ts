import type { EnvironmentConfigSpec } from "@oaas/contracts/crd";
import { err, ok, ROOT_PATH, type Result, type Violation } from "@oaas/foundation";

type Images = EnvironmentConfigSpec["images"];

/** The reference that is really pulled: mirrors of the environment applied, its allowed registries kept. */
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
 * When an image is pulled: as stated, else as Kubernetes decides for a new object. Left to Kubernetes it would be decided once, by the first image,
 * and stay so whatever image comes after it.
 */
export function imagePullPolicy(image: string, stated: string | undefined): string {
  if (stated !== undefined) return stated;
  const [name = "", digest] = image.slice(image.lastIndexOf("/") + 1).split("@");
  const [, tag = digest === undefined ? "latest" : ""] = name.split(":");
  return tag === "latest" ? "Always" : "IfNotPresent";
}

/** Whether a prefix ends where a part of the reference does: `host/acme` must not let `host/acme-evil` pass. */
function hasImagePrefix(reference: string, prefix: string): boolean {
  if (!reference.startsWith(prefix)) return false;
  return prefix.endsWith("/") || ["", "/", ":", "@"].includes(reference.charAt(prefix.length));
}
