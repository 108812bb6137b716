import { pathOf, ROOT_PATH, type Violation } from "@oaas/foundation";
import { CONFIG_KEY } from "../fields/names.ts";
import { quantityNanos } from "../fields/quantity.ts";
import { patternRule, type TextRule } from "../fields/text-rule.ts";

/** A key of a Secret or ConfigMap in the namespace of the function. */
export interface KeyReference {
  readonly name: string;
  readonly key: string;
  readonly optional?: boolean | undefined;
}

export interface EnvVar {
  readonly name: string;
  readonly value?: string | undefined;
  readonly valueFrom?:
    | {
        readonly secretKeyRef?: KeyReference | undefined;
        readonly configMapKeyRef?: KeyReference | undefined;
        readonly fieldRef?: { readonly apiVersion?: string | undefined; readonly fieldPath: string } | undefined;
        readonly resourceFieldRef?:
          | { readonly resource: string; readonly divisor?: string | number | undefined }
          | undefined;
      }
    | undefined;
}

interface ObjectReference {
  readonly name: string;
  readonly optional?: boolean | undefined;
}

export interface EnvFromSource {
  readonly prefix?: string | undefined;
  readonly secretRef?: ObjectReference | undefined;
  readonly configMapRef?: ObjectReference | undefined;
}

interface KeyToPath {
  readonly key: string;
  readonly path: string;
  readonly mode?: number | undefined;
}

interface FilesOf {
  readonly items?: readonly KeyToPath[] | undefined;
  readonly optional?: boolean | undefined;
}

export interface VolumeProjection {
  readonly secret?: ({ readonly name: string } & FilesOf) | undefined;
  readonly configMap?: ({ readonly name: string } & FilesOf) | undefined;
  readonly downwardAPI?:
    | {
        readonly items: readonly { readonly path: string; readonly fieldRef: { readonly fieldPath: string } }[];
      }
    | undefined;
  readonly serviceAccountToken?:
    | {
        readonly path: string;
        readonly audience?: string | undefined;
        readonly expirationSeconds?: number | undefined;
      }
    | undefined;
}

export interface Volume {
  readonly name: string;
  readonly emptyDir?:
    | { readonly medium?: string | undefined; readonly sizeLimit?: string | number | undefined }
    | undefined;
  readonly configMap?: ({ readonly name: string; readonly defaultMode?: number | undefined } & FilesOf) | undefined;
  readonly secret?: ({ readonly secretName: string; readonly defaultMode?: number | undefined } & FilesOf) | undefined;
  readonly persistentVolumeClaim?: { readonly claimName: string; readonly readOnly?: boolean | undefined } | undefined;
  readonly projected?:
    | { readonly sources: readonly VolumeProjection[]; readonly defaultMode?: number | undefined }
    | undefined;
}

export interface VolumeMount {
  readonly name: string;
  readonly mountPath: string;
  readonly subPath?: string | undefined;
  readonly readOnly?: boolean | undefined;
}

export interface Probe {
  readonly httpGet?:
    | {
        readonly path?: string | undefined;
        readonly port?: string | number | undefined;
        readonly scheme?: string | undefined;
        readonly httpHeaders?: readonly { readonly name: string; readonly value: string }[] | undefined;
      }
    | undefined;
  readonly grpc?: { readonly port?: number | undefined; readonly service?: string | undefined } | undefined;
  readonly exec?: { readonly command: readonly string[] } | undefined;
  readonly tcpSocket?: { readonly port?: string | number | undefined } | undefined;
  readonly initialDelaySeconds?: number | undefined;
  readonly periodSeconds?: number | undefined;
  readonly timeoutSeconds?: number | undefined;
  readonly successThreshold?: number | undefined;
  readonly failureThreshold?: number | undefined;
}

type Amounts = Readonly<Record<string, string | number>>;

export interface SecurityContext {
  readonly runAsUser?: number | undefined;
  readonly runAsGroup?: number | undefined;
  readonly runAsNonRoot?: boolean | undefined;
  readonly readOnlyRootFilesystem?: boolean | undefined;
  readonly allowPrivilegeEscalation?: boolean | undefined;
  readonly capabilities?:
    | { readonly drop?: readonly string[] | undefined; readonly add?: readonly string[] | undefined }
    | undefined;
  readonly seccompProfile?: { readonly type: string; readonly localhostProfile?: string | undefined } | undefined;
}

export interface TopologySpread {
  readonly maxSkew: number;
  readonly topologyKey: string;
  readonly whenUnsatisfiable: string;
  readonly minDomains?: number | undefined;
  readonly nodeAffinityPolicy?: string | undefined;
  readonly nodeTaintsPolicy?: string | undefined;
}

/** Settings of a function's pod, with the names and shapes of a Kubernetes pod spec. */
export interface PodSettings {
  readonly env?: readonly EnvVar[] | undefined;
  readonly envFrom?: readonly EnvFromSource[] | undefined;
  readonly command?: readonly string[] | undefined;
  readonly args?: readonly string[] | undefined;
  readonly startupProbe?: Probe | undefined;
  readonly readinessProbe?: Probe | undefined;
  readonly livenessProbe?: Probe | undefined;
  readonly volumes?: readonly Volume[] | undefined;
  readonly volumeMounts?: readonly VolumeMount[] | undefined;
  readonly resources?: { readonly requests?: Amounts | undefined; readonly limits?: Amounts | undefined } | undefined;
  readonly securityContext?: SecurityContext | undefined;
  readonly imagePullSecrets?: readonly { readonly name: string }[] | undefined;
  readonly serviceAccountName?: string | undefined;
  readonly topologySpreadConstraints?: readonly TopologySpread[] | undefined;
  readonly priorityClassName?: string | undefined;
}

/** The names of all pod settings; the compiler rejects a list that misses one. */
const SETTING_NAMES: { readonly [Name in keyof PodSettings]-?: true } = {
  env: true,
  envFrom: true,
  command: true,
  args: true,
  startupProbe: true,
  readinessProbe: true,
  livenessProbe: true,
  volumes: true,
  volumeMounts: true,
  resources: true,
  securityContext: true,
  imagePullSecrets: true,
  serviceAccountName: true,
  topologySpreadConstraints: true,
  priorityClassName: true,
};
export const POD_SETTINGS = Object.keys(SETTING_NAMES) as readonly (keyof PodSettings)[];

/** The pod settings of an object with further members; undefined when it has none. */
export function podSettingsOf(given: PodSettings): PodSettings | undefined {
  const stated = POD_SETTINGS.filter((name) => given[name] !== undefined).map((name) => [name, given[name]] as const);
  return stated.length === 0 ? undefined : Object.fromEntries(stated);
}

export const OBJECT_NAME = patternRule({
  what: "the name of a Kubernetes object",
  pattern: /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/,
  maxLength: 253,
  fix: "use lowercase letters, digits, '-' and '.', starting and ending with a letter or digit",
});
export const VOLUME_NAME = patternRule({
  what: "the name of a volume",
  pattern: /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/,
  maxLength: 63,
  fix: "use lowercase letters, digits and '-', starting and ending with a letter or digit",
});
export const DATA_KEY = patternRule({
  what: "a key of a Secret or ConfigMap",
  pattern: /^([-_a-zA-Z0-9]|\.[-_a-zA-Z0-9])[-._a-zA-Z0-9]*$/,
  maxLength: 253,
  fix: "use letters, digits, '-', '_' and '.'",
});
export const FIELD_PATH = patternRule({
  what: "a field of a pod for environment variables",
  pattern:
    /^(metadata\.(name|namespace|uid|(labels|annotations)\['[a-z0-9A-Z]([-._/a-zA-Z0-9]{0,61}[a-zA-Z0-9])?'\])|spec\.(nodeName|serviceAccountName)|status\.(hostIPs?|podIPs?))$/,
  maxLength: 128,
  fix: "use metadata.name, metadata.namespace, metadata.uid, metadata.labels['key'], metadata.annotations['key'], spec.nodeName, spec.serviceAccountName, status.podIP or status.hostIP",
});
export const FILE_FIELD_PATH = patternRule({
  what: "a field of a pod for files",
  pattern:
    /^metadata\.(name|namespace|uid|labels|annotations|(labels|annotations)\['[a-z0-9A-Z]([-._/a-zA-Z0-9]{0,61}[a-zA-Z0-9])?'\])$/,
  maxLength: 128,
  fix: "use metadata.name, metadata.namespace, metadata.uid, metadata.labels or metadata.annotations",
});
export const VOLUME_FILE_PATH = patternRule({
  what: "a relative path without ..",
  pattern: /^\.?[\w@+~-][\w.@+~-]*(\/\.?[\w@+~-][\w.@+~-]*)*$/,
  maxLength: 1024,
  fix: "use a path such as tls/ca.crt",
});
export const MOUNT_PATH = patternRule({
  what: "an absolute path",
  pattern: /^\/[^:]*$/,
  maxLength: 1024,
  fix: "use a path such as /etc/settings, without ':'",
});
export const TOPOLOGY_KEY = patternRule({
  what: "a node label",
  pattern: /^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?\/)?[a-zA-Z0-9]([-_.a-zA-Z0-9]{0,61}[a-zA-Z0-9])?$/,
  maxLength: 317,
  fix: "use a label such as topology.kubernetes.io/zone",
});
export const HEADER_NAME = patternRule({
  what: "the name of an HTTP header",
  pattern: /^[-A-Za-z0-9]+$/,
  maxLength: 256,
  fix: "use letters, digits and '-'",
});
export const ENV_NAME: TextRule = CONFIG_KEY;

/** Environment variables that the platform sets in every template. */
export const RESERVED_ENV: ReadonlySet<string> = new Set([
  "DEPLOYMENT_ID",
  "ENVIRONMENT",
  "EXPECTED_THROUGHPUT",
  "FUNCTION_KEY",
  "MAX_LATENCY_MS",
  "ODGM_ACCESS_MODE",
  "ODGM_CACHING_STRATEGY",
  "ODGM_CLUSTER_ID",
  "ODGM_COLLECTIONS",
  "ODGM_ENABLED",
  "ODGM_ENDPOINT",
  "ODGM_NODE_ROLE",
  "ODGM_SERVICE",
  "OPRC_ZENOH_MODE",
  "OPRC_ZENOH_PEERS",
]);

const NANO = 1_000_000_000n;
const PLAIN_RESOURCES: Readonly<Record<string, string>> = { cpu: "cpu", memory: "memory" };
const EXTENDED = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?\/[a-zA-Z0-9]([-_.a-zA-Z0-9]{0,61}[a-zA-Z0-9])?$/;

/** Checks the rules across pod settings that no schema of a single field expresses. */
export function checkPodSettings(given: PodSettings, path: string = ROOT_PATH): Violation[] {
  return [
    ...envViolations(given, path),
    ...mountViolations(given, path),
    ...projectionViolations(given, path),
    ...resourceViolations(given.resources ?? {}, pathOf(path, "resources")),
  ];
}

function envViolations({ env = [] }: PodSettings, path: string): Violation[] {
  return env.flatMap(({ name }, index) =>
    RESERVED_ENV.has(name)
      ? [
          {
            path: pathOf(path, "env", index, "name"),
            message: `${name} is set by the platform`,
            fix: "use another name; the function reads the platform's value under this one",
          },
        ]
      : [],
  );
}

function mountViolations({ volumes = [], volumeMounts = [] }: PodSettings, path: string): Violation[] {
  const names = new Set(volumes.map(({ name }) => name));
  return volumeMounts.flatMap(({ name }, index) =>
    names.has(name)
      ? []
      : [
          {
            path: pathOf(path, "volumeMounts", index, "name"),
            message: `volume ${name} is not declared`,
            fix: names.size === 0 ? "add it to volumes" : `add it to volumes, or use one of ${[...names].join(", ")}`,
          },
        ],
  );
}

/** The API server refuses two files with the same path in one projected volume. */
function projectionViolations({ volumes = [] }: PodSettings, path: string): Violation[] {
  return volumes.flatMap(({ projected }, volume) => {
    const seen = new Set<string>();
    return (projected?.sources ?? []).flatMap((source, index) =>
      projectedPaths(source).flatMap((file) => {
        if (!seen.has(file)) {
          seen.add(file);
          return [];
        }
        return [
          {
            path: pathOf(path, "volumes", volume, "projected", "sources", index),
            message: `${file} is the path of another file in the volume`,
            fix: "use another path",
          },
        ];
      }),
    );
  });
}

function projectedPaths({ secret, configMap, downwardAPI, serviceAccountToken }: VolumeProjection): string[] {
  const files = [...(secret?.items ?? []), ...(configMap?.items ?? []), ...(downwardAPI?.items ?? [])];
  return [...files, ...(serviceAccountToken === undefined ? [] : [serviceAccountToken])].map((file) => file.path);
}

function resourceViolations(
  { requests = {}, limits = {} }: NonNullable<PodSettings["resources"]>,
  path: string,
): Violation[] {
  const all = [
    ...Object.keys(requests).map((name) => ["requests", name, requests[name]] as const),
    ...Object.keys(limits).map((name) => ["limits", name, limits[name]] as const),
  ];
  return all.flatMap(([list, name, amount]): Violation[] => {
    const at = pathOf(path, list, name);
    const field = `${name}_${list === "requests" ? "request" : "limit"}`;
    if (Object.hasOwn(PLAIN_RESOURCES, name))
      return [{ path: at, message: `${name} has its own field`, fix: `set ${field} of provision_config` }];
    if (name === "ephemeral-storage")
      return list === "requests" && isMore(amount, limits[name])
        ? [{ path: at, message: "is above the limit", fix: "raise the limit or lower the request" }]
        : [];
    if (!EXTENDED.test(name) || /(^|\.)kubernetes\.io\//.test(name) || name.startsWith("requests."))
      return [
        {
          path: at,
          message: `${name} is not an extended resource`,
          fix: "use ephemeral-storage or a name with a domain, such as nvidia.com/gpu",
        },
      ];
    const nanos = nanosOf(amount);
    if (nanos === undefined || nanos % NANO !== 0n)
      return [{ path: at, message: `${String(amount)} is not an integer`, fix: "use an integer, such as 1" }];
    if (list === "requests" && nanosOf(limits[name]) !== nanos)
      return [{ path: at, message: "differs from the limit", fix: `set limits["${name}"] only, or the same amount` }];
    return [];
  });
}

function nanosOf(amount: string | number | undefined): bigint | undefined {
  return amount === undefined ? undefined : quantityNanos(String(amount));
}

function isMore(request: string | number | undefined, limit: string | number | undefined): boolean {
  const [low, high] = [nanosOf(request), nanosOf(limit)];
  return low !== undefined && high !== undefined && low > high;
}
