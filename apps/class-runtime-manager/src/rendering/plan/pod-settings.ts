import type { ClassFunction } from "@oaas/contracts/crd";
import { pathOf, ROOT_PATH, violationsUnder, type Violation } from "@oaas/foundation";
import { checkPodSettings, type PodSettings } from "@oaas/models";

interface KindOptions {
  readonly reservedEnv?: ReadonlySet<string>;
  readonly podViolations?: (settings: PodSettings) => readonly Violation[];
}

const PROBES = ["startupProbe", "readinessProbe", "livenessProbe"] as const;

/** Violations of a function's pod settings that its schema does not find. Paths start at the function. */
export function podSettingViolations(fn: ClassFunction, options: KindOptions): readonly Violation[] {
  const settings = fn.provision_config;
  if (settings === undefined) return [];
  return violationsUnder(pathOf(ROOT_PATH, "provision_config"), [
    ...checkPodSettings(settings),
    ...envConflicts(fn, options.reservedEnv ?? new Set()),
    ...placeConflicts(fn),
    ...(options.podViolations?.(settings) ?? []),
  ]);
}

function envConflicts({ provision_config: settings, config = {} }: ClassFunction, reserved: ReadonlySet<string>) {
  return (settings?.env ?? []).flatMap(({ name }, index): Violation[] => {
    const path = pathOf(ROOT_PATH, "env", index, "name");
    if (reserved.has(name)) {
      return [{ path, message: `${name} is reserved by the template`, fix: "use another name" }];
    }
    return Object.hasOwn(config, name)
      ? [{ path, message: `${name} is also in config`, fix: "set it in env or in config, not in both" }]
      : [];
  });
}

/** The fields of custom resources that came before `provision_config` had them. */
function placeConflicts({ provision_config: settings, ...fn }: ClassFunction): Violation[] {
  const given: PodSettings = settings ?? {};
  const probed = fn.health_check === undefined ? [] : PROBES.filter((probe) => given[probe] !== undefined);
  const volumes = new Set((fn.volumes ?? []).map(({ name }) => name));
  const paths = new Set((fn.volume_mounts ?? []).map(({ mountPath }) => mountPath));
  const twice = (list: string, index: number, what: string): Violation => ({
    path: pathOf(ROOT_PATH, list, index),
    message: `${what} is also stated beside provision_config`,
    fix: "state it in provision_config only",
  });
  return [
    ...probed.map((probe) => ({
      path: pathOf(ROOT_PATH, probe),
      message: "conflicts with health_check",
      fix: "remove health_check",
    })),
    ...(given.volumes ?? []).flatMap(({ name }, index) =>
      volumes.has(name) ? [twice("volumes", index, `volume ${name}`)] : [],
    ),
    ...(given.volumeMounts ?? []).flatMap(({ mountPath }, index) =>
      paths.has(mountPath) ? [twice("volumeMounts", index, `mount ${mountPath}`)] : [],
    ),
  ];
}
