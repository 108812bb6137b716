import type { JsonObject } from "@oaas/kube-core";
import { hasObject, numberAt, objectAt, objectsAt, textAt } from "../../json-access.ts";

/** Likely mistakes in a pod spec, with the real server's messages. `field` is the path of the spec. */
export function listPodWarnings(spec: JsonObject, field: string): readonly string[] {
  const containers = ["initContainers", "containers", "ephemeralContainers"].flatMap((list) =>
    objectsAt(spec, list).map((container, index) => ({ container, at: `${field}.${list}[${index}]` })),
  );
  const ports = containers.flatMap(({ container, at }) =>
    objectsAt(container, "ports").map((port, index) => ({ port, at: `${at}.ports[${index}]` })),
  );
  const grace = numberAt(spec, "terminationGracePeriodSeconds") ?? 0;
  return [
    ...containers.flatMap(({ container, at }) => environmentWarnings(objectsAt(container, "env"), `${at}.env`)),
    ...ports.flatMap((one, index) => portWarnings(one, ports.slice(0, index))),
    ...nameWarnings(ports),
    ...(grace < 0
      ? [`${field}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1`]
      : []),
  ];
}

/** Likely mistakes in a pod template. */
export function listTemplateWarnings(workload: JsonObject): readonly string[] {
  return listPodWarnings(objectAt(workload, "spec", "template", "spec"), "spec.template.spec");
}

function environmentWarnings(variables: readonly JsonObject[], field: string): readonly string[] {
  const seen = new Set<string>();
  return variables.flatMap((variable, index) => {
    const [name, value] = [textAt(variable, "name"), textAt(variable, "value")];
    if (!seen.has(name)) {
      seen.add(name);
      return [];
    }
    // A value that extends the previous one does not hide it.
    const itself = `$(${name})`;
    const isHiding = hasObject(variable, "valueFrom") || value === itself || !value.includes(itself);
    const text = `hides previous definition of ${JSON.stringify(name)}, which may be dropped when using apply`;
    return isHiding ? [`${field}[${index}]: ${text}`] : [];
  });
}

interface Placed {
  readonly port: JsonObject;
  readonly at: string;
}

function portWarnings({ port, at }: Placed, before: readonly Placed[]): readonly string[] {
  const same = before.filter((other) => numberOf(other.port) === numberOf(port));
  return same.flatMap((other) => {
    const how = overlap(port, other.port);
    return how === undefined ? [] : [`${at}: ${how} port definition with ${other.at}`];
  });
}

function numberOf(port: JsonObject): string {
  return `${numberAt(port, "containerPort") ?? 0}/${textAt(port, "protocol")}`;
}

function overlap(port: JsonObject, other: JsonObject): string | undefined {
  const [address, otherAddress] = [textAt(port, "hostIP"), textAt(other, "hostIP")];
  const [host, otherHost] = [numberAt(port, "hostPort") ?? 0, numberAt(other, "hostPort") ?? 0];
  if (address === otherAddress && host === otherHost) return "duplicate";
  if (host === 0 || otherHost === 0) return "overlapping";
  return host === otherHost && (address === "") !== (otherAddress === "") ? "dangerously ambiguous" : undefined;
}

function nameWarnings(ports: readonly Placed[]): readonly string[] {
  const firstContainers = new Map<string, string>();
  return ports.flatMap(({ port, at }) => {
    const name = textAt(port, "name");
    const first = firstContainers.get(name);
    if (name === "" || first === undefined) {
      firstContainers.set(name, at);
      return [];
    }
    const text = `duplicate port name ${JSON.stringify(name)} with ${first}`;
    return [`${at}: ${text}, services and probes that select ports by name will use ${first}`];
  });
}
