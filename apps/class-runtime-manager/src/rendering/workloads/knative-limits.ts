import { pathOf, ROOT_PATH, type Violation } from "@oaas/foundation";
import type { PodSettings } from "@oaas/models";

const OTHER_TEMPLATE = "use another template, such as k8s_deployment";
const RESERVED_PATHS = new Set(["/", "/dev", "/dev/log"]);

/** Pod settings that a default installation of Knative refuses. Paths start at `provision_config`. */
export function knativeViolations(settings: PodSettings): readonly Violation[] {
  const refuse = (message: string, fix: string, ...path: (string | number)[]): Violation => ({
    path: pathOf(ROOT_PATH, ...path),
    message,
    fix,
  });
  const cannot = (what: string): string => `Knative Services cannot have ${what}`;
  const { env = [], volumes = [], volumeMounts = [] } = settings;
  const mounted = new Set(volumeMounts.map(({ name }) => name));
  return [
    ...(settings.topologySpreadConstraints === undefined
      ? []
      : [refuse(cannot("topologySpreadConstraints"), OTHER_TEMPLATE, "topologySpreadConstraints")]),
    ...(settings.priorityClassName === undefined
      ? []
      : [refuse(cannot("a priorityClassName"), OTHER_TEMPLATE, "priorityClassName")]),
    ...env.flatMap(({ valueFrom }, index) =>
      (["fieldRef", "resourceFieldRef"] as const)
        .filter((source) => valueFrom?.[source] !== undefined)
        .map((source) => refuse(cannot(`variables from ${source}`), OTHER_TEMPLATE, "env", index, "valueFrom", source)),
    ),
    ...volumes.flatMap(({ name, persistentVolumeClaim }, index) => [
      ...(persistentVolumeClaim === undefined
        ? []
        : [refuse(cannot("a persistentVolumeClaim"), OTHER_TEMPLATE, "volumes", index, "persistentVolumeClaim")]),
      ...(mounted.has(name)
        ? []
        : [refuse(cannot("volumes that are not mounted"), "add it to volumeMounts or remove it", "volumes", index)]),
    ]),
    ...volumeMounts.flatMap(({ mountPath }, index) =>
      RESERVED_PATHS.has(mountPath.replace(/(?<=.)\/$/, ""))
        ? [refuse(`Knative reserves ${mountPath}`, "mount it elsewhere", "volumeMounts", index, "mountPath")]
        : [],
    ),
  ];
}
