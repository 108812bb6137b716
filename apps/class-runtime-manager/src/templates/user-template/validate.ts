import type { DeploymentTemplateSpec } from "@oaas/contracts/crd";
import { pathOf, ROOT_PATH, violationsUnder, type Violation } from "@oaas/foundation";
import { builtinTemplate } from "@oaas/models";
import { foreignPlaceholders } from "./foreign-placeholder.ts";
import { checkMonitor } from "./monitor-fields.ts";
import { checkScaledObject, HTTP_SCALED_OBJECT, SCALED_OBJECT } from "./scaled-object.ts";
import { isKnownPath, similarPaths } from "./scope.ts";
import { placeholdersIn } from "./walk.ts";
import { kindOf, WORKLOAD_OF_TYPE, type TemplateType } from "./workload-kinds.ts";

/** A manifest as written in the template. */
export type RawManifest = NonNullable<DeploymentTemplateSpec["manifests"]>[number];

/**
 * Kinds that a template may create. None grants permissions or affects other namespaces: authors of templates must not
 * gain the permissions of the class runtime manager. `checkMonitor` and `checkScaledObject` limit the
 * fields of their kinds.
 */
const ALLOWED = new Set([
  ...Object.values(WORKLOAD_OF_TYPE),
  "v1/Service",
  "v1/ConfigMap",
  "v1/PersistentVolumeClaim",
  "v1/ServiceAccount",
  "autoscaling/v2/HorizontalPodAutoscaler",
  "policy/v1/PodDisruptionBudget",
  "networking.k8s.io/v1/NetworkPolicy",
  "networking.k8s.io/v1/Ingress",
  "monitoring.coreos.com/v1/ServiceMonitor",
  "monitoring.coreos.com/v1/PodMonitor",
  SCALED_OBJECT,
  HTTP_SCALED_OBJECT,
]);

/** The manifests, in either spelling. */
export function manifestsOf(spec: DeploymentTemplateSpec): readonly RawManifest[] {
  return spec.manifests ?? spec.kubernetes_manifests ?? [];
}

/** Whether a manifest is rendered once per function: it is the workload, or it uses placeholders of the function. */
export function isPerFunction(manifest: RawManifest, type: TemplateType): boolean {
  return (
    kindOf(manifest) === WORKLOAD_OF_TYPE[type] ||
    placeholdersIn(manifest).found.some(({ placeholder }) => placeholder.path[0] === "function")
  );
}

/** Checks a template independent of classes. Paths start at its spec. */
export function checkTemplate(name: string, spec: DeploymentTemplateSpec): readonly Violation[] {
  const field = spec.manifests === undefined ? "kubernetes_manifests" : "manifests";
  const manifests = manifestsOf(spec);
  const workload = WORKLOAD_OF_TYPE[spec.template_type];
  return [
    ...[name, ...(spec.aliases ?? [])]
      .filter((one) => builtinTemplate(one) !== undefined)
      .map((one) => ({
        path: pathOf(ROOT_PATH, one === name ? "name" : "aliases"),
        message: `"${one}" is the name of a built-in template`,
        fix: "choose another name",
      })),
    ...(manifests.filter((manifest) => kindOf(manifest) === workload).length === 1
      ? []
      : [
          {
            path: pathOf(ROOT_PATH, field),
            message: `a template of type ${spec.template_type} needs exactly one ${workload}`,
          },
        ]),
    ...checkStorage(spec, manifests),
    ...manifests.flatMap((manifest, index) =>
      violationsUnder(pathOf(ROOT_PATH, field, index), checkManifest(manifest)),
    ),
  ];
}

/** A template that promises volumes claims them, since the manager adds none to a user's manifests. */
function checkStorage({ nfr_capabilities: can }: DeploymentTemplateSpec, manifests: readonly RawManifest[]) {
  const claims = manifests.some(
    (manifest) =>
      manifest.kind === "PersistentVolumeClaim" ||
      (manifest["spec"] as { readonly volumeClaimTemplates?: unknown } | undefined)?.volumeClaimTemplates !== undefined,
  );
  if (can?.persistent_storage !== true || claims) return [];
  return [
    {
      path: pathOf(ROOT_PATH, "nfr_capabilities", "persistent_storage"),
      message: "no manifest claims a volume",
      fix: "add volumeClaimTemplates to the StatefulSet or a PersistentVolumeClaim, or remove persistent_storage",
    },
  ];
}

function checkManifest(manifest: RawManifest): readonly Violation[] {
  const { found, texts, violations } = placeholdersIn(manifest);
  const kind = kindOf(manifest);
  const metadata = manifest["metadata"];
  const isObject =
    metadata === undefined || (typeof metadata === "object" && metadata !== null && !Array.isArray(metadata));
  return [
    ...violations,
    ...texts.flatMap(foreignPlaceholders),
    ...checkMonitor(manifest),
    ...checkScaledObject(manifest),
    ...(ALLOWED.has(kind)
      ? []
      : [
          {
            path: pathOf(ROOT_PATH, "kind"),
            message: `a template cannot create ${kind}`,
            fix: `use one of ${[...ALLOWED].sort().join(", ")}`,
          },
        ]),
    ...(isObject ? [] : [{ path: pathOf(ROOT_PATH, "metadata"), message: "metadata is not an object" }]),
    ...(isObject && metadata !== undefined && Object.hasOwn(metadata, "namespace")
      ? [
          {
            path: pathOf(ROOT_PATH, "metadata", "namespace"),
            message: "objects of a template are created in the namespace of the class",
            fix: "remove namespace",
          },
        ]
      : []),
    ...found
      .filter(({ placeholder }) => placeholder.path.length > 0 && !isKnownPath(placeholder.path))
      .map(({ path, placeholder }) => ({
        path,
        message: `unknown placeholder ${placeholder.path.join(".")}`,
        fix: `use one of ${similarPaths(placeholder.path).join(", ")}`,
      })),
  ];
}
