import type { EnvironmentConfigSpec } from "@oaas/contracts/crd";
import { pathOf, ROOT_PATH, violationsUnder, type Violation } from "@oaas/foundation";
import { checkName, checkQualifiedName, parseQuantity, type NameKind } from "@oaas/kube-core";
import { parseImagePrefix } from "@oaas/models";

/**
 * Checks the values of an environment that its schema cannot: a limit that cannot be applied must not be ignored. Paths
 * start at its spec.
 */
export function checkLimits(spec: EnvironmentConfigSpec): readonly Violation[] {
  const { quotas, images, odgm, network_policy: network } = spec;
  const { container_resources: resources, storage } = odgm;
  return [
    ...quantityViolations("quotas", quotas, ["cpu", "memory", "storage"]),
    ...(["odgm", "function"] as const).flatMap((container) =>
      (["requests", "limits"] as const).flatMap((bound) => {
        const amounts = resources[container][bound] ?? {};
        return violationsUnder(
          pathOf(ROOT_PATH, "odgm", "container_resources", container),
          quantityViolations(bound, amounts, Object.keys(amounts)),
        );
      }),
    ),
    ...violationsUnder(pathOf(ROOT_PATH, "odgm"), quantityViolations("storage", storage, ["size"])),
    ...violationsUnder(pathOf(ROOT_PATH, "images"), imageViolations(images)),
    ...labelViolations("nodeSelector", spec.nodeSelector),
    ...labelViolations("labels", spec.labels),
    ...(network?.allow_from_namespaces ?? []).flatMap((name, index) =>
      violationsUnder(
        pathOf(ROOT_PATH, "network_policy", "allow_from_namespaces", index),
        checkName("dns-1123-label", name),
      ),
    ),
    ...nameViolations("serviceAccountName", spec.serviceAccountName, "dns-1123-subdomain"),
    ...nameViolations("priorityClassName", spec.priorityClassName, "dns-1123-subdomain"),
  ];
}

function quantityViolations(
  field: string,
  amounts: Readonly<Record<string, unknown>> | undefined,
  names: readonly string[],
): readonly Violation[] {
  return names.flatMap((name) => {
    const amount = amounts?.[name];
    if (typeof amount !== "string") return [];
    const parsed = parseQuantity(amount);
    return parsed.ok ? [] : [{ ...parsed.error, path: pathOf(ROOT_PATH, field, name) }];
  });
}

function imageViolations(images: EnvironmentConfigSpec["images"]): readonly Violation[] {
  const prefixes = [
    ...(images?.allowed_registries ?? []).map((text, index) => ({ text, path: ["allowed_registries", index] })),
    ...(images?.mirrors ?? []).flatMap(({ from, to }, index) => [
      { text: from, path: ["mirrors", index, "from"] },
      { text: to, path: ["mirrors", index, "to"] },
    ]),
  ];
  return prefixes
    .filter(({ text }) => parseImagePrefix(text) === undefined)
    .map(({ text, path }) => ({
      path: pathOf(ROOT_PATH, ...path),
      message: `"${text}" is not a prefix of image names`,
      fix: "use a host or a host and a path, such as ghcr.io or registry.example:5000/acme, without a scheme, tag or digest",
    }));
}

function labelViolations(field: string, labels: Readonly<Record<string, string>> | undefined): readonly Violation[] {
  return Object.entries(labels ?? {}).flatMap(([key, value]) =>
    violationsUnder(pathOf(ROOT_PATH, field, key), [...checkQualifiedName(key), ...checkName("label-value", value)]),
  );
}

function nameViolations(field: string, name: string | undefined, kind: NameKind): readonly Violation[] {
  return name === undefined ? [] : violationsUnder(pathOf(ROOT_PATH, field), checkName(kind, name));
}
