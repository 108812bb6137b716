import { safeName } from "@oaas/kube-core";

/*
 * Names of children.
 *
 * Existing names are kept: `<class>` for a single function, `<class>-fn-<index>` for one of several, `<class>-odgm` and
 * `<class>-odgm-svc` for the state store. Names that are too long are shortened with a hash. Two objects can still get
 * the same name (class `a` with two functions and class `a-fn-0`; a ClassRuntime and a DeploymentRecord of the same
 * name): check the owner before taking over an object.
 */

/** Maximum length of a Kubernetes name. */
const MAX_LABEL = 63;
/** The StatefulSet controller puts the name and a hash of ten digits into a label. */
const MAX_STATEFUL_SET = 52;
/** Digits of the spec hash in the name of a Job. */
const JOB_DIGITS = 8;

/** Converts the name of an object to the DNS-1035 label that prefixes the names of its children. */
export function baseName(objectName: string): string {
  const label = objectName
    .replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())
    .replaceAll(/[^a-z0-9-]/g, "-")
    .replace(/^-+/, "")
    .replace(/(?<!-)-+$/, "");
  if (label === "") return "default";
  return (/^[a-z]/.test(label) ? label : `a${label}`).slice(0, MAX_LABEL).replace(/(?<!-)-+$/, "");
}

/**
 * The child names of a class's functions, in order.
 *
 * A function keeps its name (`assigned`), so that changes to other functions rename nothing. A new function is named by
 * its position, or by its key when another function has or had that name: callers must not reach pods of a function
 * that is being replaced.
 */
export function functionNames(
  objectName: string,
  functionKeys: readonly string[],
  assigned: ReadonlyMap<string, string> = new Map(),
): readonly string[] {
  const base = baseName(objectName);
  const kept = new Set<string>();
  const names = functionKeys.map((key): string | undefined => {
    const name = assigned.get(key);
    if (name === undefined || kept.has(name) || !belongsToClass(name, base)) return undefined;
    kept.add(name);
    return name;
  });
  const taken = new Set([...kept, ...assigned.values()]);
  return functionKeys.map((key, index) => {
    const own = names[index];
    if (own !== undefined) return own;
    const byPosition = functionKeys.length === 1 ? base : withSuffix(base, "fn", String(index));
    const name = taken.has(byPosition) ? nameFromKey(base, key) : byPosition;
    taken.add(name);
    return name;
  });
}

/** The empty part forces a hash, since a key can look like a position. */
function nameFromKey(base: string, key: string): string {
  return safeName([base, "fn", key, ""], { kind: "dns-1035-label" });
}

/** Ignores names in an edited status that do not belong to the class. */
function belongsToClass(name: string, base: string): boolean {
  return (
    name.length <= MAX_LABEL && /^[a-z][-a-z0-9]*[a-z0-9]$|^[a-z]$/.test(name) && name.startsWith(base.slice(0, 20))
  );
}

/** `<base>-<parts…>`, shortened with a hash when too long. */
export function withSuffix(base: string, ...parts: readonly string[]): string {
  const plain = [base, ...parts].join("-");
  return plain.length <= MAX_LABEL ? plain : safeName([base, ...parts], { kind: "dns-1035-label" });
}

/** StatefulSet names must be shorter than other names. */
export function statefulSetName(name: string): string {
  return name.length <= MAX_STATEFUL_SET
    ? name
    : safeName([name, "set"], { kind: "dns-1035-label", maxLength: MAX_STATEFUL_SET });
}

/** The pods of a Job are immutable, so that another spec (by its hash) needs another Job. */
export function jobName(name: string, hash: string): string {
  return withSuffix(name, hash.slice(0, JOB_DIGITS));
}

/** The headless Service of a StatefulSet. */
export function podsServiceName(name: string): string {
  return withSuffix(name, "pods");
}

/** Names of the objects of the state store. */
export function odgmNames(objectName: string) {
  const base = baseName(objectName);
  return {
    workload: withSuffix(base, "odgm"),
    service: withSuffix(base, "odgm", "svc"),
    pods: withSuffix(base, "odgm", "pods"),
    config: withSuffix(base, "odgm", "config"),
  };
}

/** Names of the ServiceMonitor and PodMonitor of the functions of a class, or of its state store. */
export function monitorNames(objectName: string, component: "function" | "odgm") {
  const base = component === "odgm" ? odgmNames(objectName).workload : baseName(objectName);
  return { service: withSuffix(base, "svcmon"), pod: withSuffix(base, "podmon") };
}
