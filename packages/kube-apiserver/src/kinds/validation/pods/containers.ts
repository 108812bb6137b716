import type { JsonObject } from "@oaas/kube-core";
import { hasObject, isSet, member, numberAt, objectAt, objectsAt, textAt, textsAt } from "../../json-access.ts";
import {
  duplicate,
  forbidden,
  invalid,
  invalidFor,
  NONE,
  notFound,
  notNegative,
  oneOf,
  required,
  unsupported,
  type Errors,
} from "../field-errors.ts";
import {
  configMapKey,
  dnsLabel,
  dnsSubdomain,
  environmentName,
  portName,
  portNumber,
  portNumberOrName,
} from "../names.ts";
import { validateResources } from "../resources.ts";

/** Shared data of the containers of a pod. */
export interface PodContext {
  readonly volumes: ReadonlySet<string>;
  readonly hostPorts: Set<string>;
}

const PROTOCOLS = ["SCTP", "TCP", "UDP"];
const HANDLERS = ["exec", "httpGet", "tcpSocket", "grpc"];
const HOOK_HANDLERS = ["exec", "httpGet", "tcpSocket", "sleep"];
const ENV_SOURCES = ["fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef"];
const ENV_FIELDS = [
  "metadata.name",
  "metadata.namespace",
  "metadata.uid",
  "spec.nodeName",
  "spec.serviceAccountName",
  "status.hostIP",
  "status.hostIPs",
  "status.podIP",
  "status.podIPs",
];

/** All containers of one kind (`containers`, `initContainers`) with unique names. */
export function validateContainers(
  list: readonly JsonObject[],
  field: string,
  seen: Set<string>,
  context: PodContext,
): Errors {
  return list.flatMap((container, index) => {
    const at = `${field}[${index}]`;
    const name = textAt(container, "name");
    const isTwice = name !== "" && seen.has(name);
    seen.add(name);
    return [...(isTwice ? [duplicate(`${at}.name`, name)] : []), ...validateContainer(container, at, context)];
  });
}

function validateContainer(container: JsonObject, field: string, context: PodContext): Errors {
  const image = textAt(container, "image");
  const name = textAt(container, "name");
  return [
    ...(name === "" ? [required(`${field}.name`)] : invalidFor(`${field}.name`, name, dnsLabel(name, false))),
    ...validateImage(image, `${field}.image`),
    ...oneOf(`${field}.terminationMessagePolicy`, textAt(container, "terminationMessagePolicy"), [
      "File",
      "FallbackToLogsOnError",
    ]),
    ...validateProbes(container, field),
    ...validatePorts(objectsAt(container, "ports"), `${field}.ports`, context),
    ...objectsAt(container, "env").flatMap((variable, index) => validateEnv(variable, `${field}.env[${index}]`)),
    ...objectsAt(container, "envFrom").flatMap((source) => validateEnvFrom(source, `${field}.envFrom`)),
    ...validateMounts(objectsAt(container, "volumeMounts"), `${field}.volumeMounts`, context),
    ...oneOf(`${field}.imagePullPolicy`, textAt(container, "imagePullPolicy"), ["Always", "IfNotPresent", "Never"]),
    ...validateResources(objectAt(container, "resources"), `${field}.resources`),
    ...validateSecurity(container, `${field}.securityContext`),
  ];
}

function validateImage(image: string, field: string): Errors {
  if (image.trim() === "") return [required(field)];
  return image === image.trim() ? NONE : [invalid(field, image, "must not have leading or trailing whitespace")];
}

function validateProbes(container: JsonObject, field: string): Errors {
  const mustBeOne = (name: string): Errors => {
    const threshold = numberAt(objectAt(container, name), "successThreshold");
    return threshold === undefined || threshold === 1 || !hasObject(container, name)
      ? NONE
      : [invalid(`${field}.${name}.successThreshold`, threshold, "must be 1")];
  };
  return [
    ...["postStart", "preStop"].flatMap((name) =>
      hasObject(objectAt(container, "lifecycle"), name)
        ? validateHandler(objectAt(container, "lifecycle", name), `${field}.lifecycle.${name}`, HOOK_HANDLERS)
        : NONE,
    ),
    ...["livenessProbe", "readinessProbe", "startupProbe"].flatMap((name) => [
      ...(hasObject(container, name) ? validateProbe(objectAt(container, name), `${field}.${name}`) : NONE),
      ...(name === "readinessProbe" ? NONE : mustBeOne(name)),
    ]),
  ];
}

function validateProbe(probe: JsonObject, field: string): Errors {
  const counts = ["initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"];
  return [
    ...validateHandler(probe, field, HANDLERS),
    ...counts.flatMap((name) => notNegative(`${field}.${name}`, numberAt(probe, name))),
  ];
}

function validateHandler(holder: JsonObject, field: string, handlers: readonly string[]): Errors {
  const [first, ...more] = handlers.filter((name) => hasObject(holder, name));
  if (first === undefined) return [required(field, "must specify a handler type")];
  return [
    ...handlerError(objectAt(holder, first), first, `${field}.${first}`),
    ...more.map((name) => forbidden(`${field}.${name}`, "may not specify more than 1 handler type")),
  ];
}

function handlerError(handler: JsonObject, name: string, field: string): Errors {
  const port = handler["port"];
  switch (name) {
    case "exec":
      return textsAt(handler, "command").length > 0 ? NONE : [required(`${field}.command`)];
    case "httpGet":
      return [
        ...(textAt(handler, "path") === "" ? [required(`${field}.path`)] : NONE),
        ...invalidFor(`${field}.port`, port ?? 0, portNumberOrName(port)),
        ...oneOf(`${field}.scheme`, textAt(handler, "scheme"), ["HTTP", "HTTPS"]),
      ];
    case "tcpSocket":
      return invalidFor(`${field}.port`, port ?? 0, portNumberOrName(port));
    case "grpc":
      return invalidFor(`${field}.port`, port ?? 0, portNumber(numberAt(handler, "port") ?? 0));
    default:
      return NONE;
  }
}

function validatePorts(ports: readonly JsonObject[], field: string, { hostPorts }: PodContext): Errors {
  const names = new Set<string>();
  return ports.flatMap((port, index) => {
    const at = `${field}[${index}]`;
    const name = textAt(port, "name");
    const number = numberAt(port, "containerPort") ?? 0;
    const hostPort = numberAt(port, "hostPort") ?? 0;
    const protocol = textAt(port, "protocol");
    const host = `${protocol}/${textAt(port, "hostIP")}/${hostPort}`;
    const isNameTwice = name !== "" && names.has(name);
    const isHostTwice = hostPort !== 0 && hostPorts.has(host);
    names.add(name);
    hostPorts.add(host);
    return [
      ...(name === "" ? NONE : invalidFor(`${at}.name`, name, portName(name))),
      ...(isNameTwice ? [duplicate(`${at}.name`, name)] : NONE),
      ...(number === 0
        ? [required(`${at}.containerPort`)]
        : invalidFor(`${at}.containerPort`, number, portNumber(number))),
      ...(hostPort === 0 ? NONE : invalidFor(`${at}.hostPort`, hostPort, portNumber(hostPort))),
      ...(protocol === "" ? [required(`${at}.protocol`)] : oneOf(`${at}.protocol`, protocol, PROTOCOLS)),
      ...(isHostTwice ? [duplicate(`${at}.hostPort`, host)] : NONE),
    ];
  });
}

function validateEnv(variable: JsonObject, field: string): Errors {
  const name = textAt(variable, "name");
  return [
    ...(name === "" ? [required(`${field}.name`)] : invalidFor(`${field}.name`, name, environmentName(name))),
    ...(hasObject(variable, "valueFrom") ? validateEnvSource(variable, `${field}.valueFrom`) : NONE),
  ];
}

function validateEnvSource(variable: JsonObject, field: string): Errors {
  const source = objectAt(variable, "valueFrom");
  const [first, ...more] = ENV_SOURCES.filter((name) => hasObject(source, name));
  const own = first === undefined ? NONE : validateSource(objectAt(source, first), first, `${field}.${first}`);
  if (first === undefined) {
    const names = ENV_SOURCES.map((name) => `\`${name}\``);
    return [invalid(field, "", `must specify one of: ${names.slice(0, -1).join(", ")} or ${names.at(-1)}`)];
  }
  if (textAt(variable, "value") !== "")
    return [...own, invalid(field, "", "may not be specified when `value` is not empty")];
  return more.length === 0 ? own : [...own, invalid(field, "", "may not have more than one field specified at a time")];
}

function validateSource(source: JsonObject, name: string, field: string): Errors {
  switch (name) {
    case "fieldRef":
      return validateFieldRef(textAt(source, "fieldPath"), field);
    case "resourceFieldRef":
      return textAt(source, "resource") === "" ? [required(`${field}.resource`)] : NONE;
    case "configMapKeyRef":
    case "secretKeyRef":
      return [
        ...validateName(textAt(source, "name"), `${field}.name`),
        ...(textAt(source, "key") === ""
          ? [required(`${field}.key`)]
          : invalidFor(`${field}.key`, textAt(source, "key"), configMapKey(textAt(source, "key")))),
      ];
    default:
      return NONE;
  }
}

function validateFieldRef(path: string, field: string): Errors {
  if (path === "") return [required(`${field}.fieldPath`)];
  if (/^metadata\.(?:annotations|labels)\['.*'\]$/.test(path)) return NONE;
  if (/^metadata\.(?:name|namespace|uid|labels|annotations)$|^(?:spec|status)\./.test(path)) {
    return ENV_FIELDS.includes(path) ? NONE : [unsupported(`${field}.fieldPath`, path, [...ENV_FIELDS].sort())];
  }
  return [invalid(`${field}.fieldPath`, path, `error converting fieldPath: field label not supported: ${path}`)];
}

function validateName(name: string, field: string): Errors {
  return name === "" ? [required(field)] : invalidFor(field, name, dnsSubdomain(name, false));
}

function validateEnvFrom(source: JsonObject, field: string): Errors {
  const sources = ["configMapRef", "secretRef"].filter((name) => hasObject(source, name));
  if (sources.length === 0) return [invalid(field, "", "must specify one of: `configMapRef` or `secretRef`")];
  const own = sources.flatMap((name) => validateName(textAt(objectAt(source, name), "name"), `${field}.${name}.name`));
  return sources.length === 1
    ? own
    : [...own, invalid(field, "", "may not have more than one field specified at a time")];
}

function validateMounts(mounts: readonly JsonObject[], field: string, { volumes }: PodContext): Errors {
  const paths = new Set<string>();
  return mounts.flatMap((mount, index) => {
    const at = `${field}[${index}]`;
    const [name, path] = [textAt(mount, "name"), textAt(mount, "mountPath")];
    const isTwice = path !== "" && paths.has(path);
    paths.add(path);
    return [
      ...(name === "" ? [required(`${at}.name`)] : NONE),
      ...(volumes.has(name) ? NONE : [notFound(`${at}.name`, name)]),
      ...(path === "" ? [required(`${at}.mountPath`)] : NONE),
      ...(isTwice ? [invalid(`${at}.mountPath`, path, "must be unique")] : NONE),
    ];
  });
}

function validateSecurity(container: JsonObject, field: string): Errors {
  const context = objectAt(container, "securityContext");
  const isContradiction = isSet(context, "privileged") && member(context, "allowPrivilegeEscalation") === false;
  return [
    ...validateUser(context, field),
    ...(isContradiction
      ? [invalid(field, context, "cannot set `allowPrivilegeEscalation` to false and `privileged` to true")]
      : NONE),
  ];
}

/** Ids of users and groups. */
export function validateUser(context: JsonObject, field: string): Errors {
  return ["runAsUser", "runAsGroup", "fsGroup"].flatMap((name) => {
    const id = numberAt(context, name);
    if (id === undefined || (id >= 0 && id <= 2_147_483_647)) return NONE;
    return [invalid(`${field}.${name}`, id, "must be between 0 and 2147483647, inclusive")];
  });
}
