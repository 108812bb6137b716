import { pathOf, ROOT_PATH, type Violation } from "@oaas/foundation";
import type { PodSettings } from "@oaas/models";

const OTHER_TEMPLATE = "use another template, such as k8s_deployment";

/** The flags of Knative, off by default, without which its webhook rejects a field. The template does not assume them. */
const FLAGS = {
  topologySpreadConstraints: "kubernetes.podspec-topologyspreadconstraints",
  priorityClassName: "kubernetes.podspec-priorityclassname",
  fieldRef: "kubernetes.podspec-fieldref",
  resourceFieldRef: "kubernetes.podspec-fieldref",
  persistentVolumeClaim: "kubernetes.podspec-persistent-volume-claim",
} as const;
const RESERVED_PATHS = new Set(["/", "/dev", "/dev/log"]);

/** Pod settings that a default installation of Knative refuses. Paths start at `provision_config`. */
export function knativeViolations(settings: PodSettings): readonly Violation[] {
  const refuse = (message: string, fix: string, ...path: (string | number)[]): Violation => ({
    path: pathOf(ROOT_PATH, ...path),
    message,
    fix,
  });
  const cannot = (what: string): string => `Knative Services cannot have ${what}`;
  const needsFlag = (what: string, field: keyof typeof FLAGS): string =>
    `${cannot(what)} without the Knative feature ${FLAGS[field]}, which is off by default`;
  const { env = [], volumes = [], volumeMounts = [] } = settings;
  const mounted = new Set(volumeMounts.map(({ name }) => name));
  return [
    ...(settings.topologySpreadConstraints === undefined
      ? []
      : [
          refuse(
            needsFlag("topologySpreadConstraints", "topologySpreadConstraints"),
            OTHER_TEMPLATE,
            "topologySpreadConstraints",
          ),
        ]),
    ...(settings.priorityClassName === undefined
      ? []
      : [refuse(needsFlag("a priorityClassName", "priorityClassName"), OTHER_TEMPLATE, "priorityClassName")]),
    ...env.flatMap(({ valueFrom }, index) =>
      (["fieldRef", "resourceFieldRef"] as const)
        .filter((source) => valueFrom?.[source] !== undefined)
        .map((source) =>
          refuse(needsFlag(`variables from ${source}`, source), OTHER_TEMPLATE, "env", index, "valueFrom", source),
        ),
    ),
    ...volumes.flatMap(({ name, persistentVolumeClaim }, index) => [
      ...(persistentVolumeClaim === undefined
        ? []
        : [
            refuse(
              needsFlag("a persistentVolumeClaim", "persistentVolumeClaim"),
              OTHER_TEMPLATE,
              "volumes",
              index,
              "persistentVolumeClaim",
            ),
          ]),
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
