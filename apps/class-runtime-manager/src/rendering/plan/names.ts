import { safeName } from "@oaas/kube-core";

/*
 * Names of children, and nothing else.
 *
 * The names that clusters already hold are kept: `<class>` for the only function, `<class>-fn-<index>` for one of several,
 * `<class>-odgm` and `<class>-odgm-svc` for the state store. What would be too long for its place is shortened with a
 * hash. Two objects may still want one name (a class `a` with two functions and a class `a-fn-0`; a ClassRuntime and a
 * DeploymentRecord of one name): whoever applies must look at the owner before it takes an object over.
 */

/** What every Kubernetes name takes. */
const MAX_LABEL = 63;
/** The controller of a StatefulSet puts its name and a hash of ten digits into a label. */
const MAX_STATEFUL_SET = 52;
/** A Job of another spec is another object, told apart by eight digits. */
const JOB_DIGITS = 8;

/** The DNS-1035 label that stands for an object's name in the names of its children. */
export function baseName(objectName: string): string {
  const label = objectName
    .replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())
    .replaceAll(/[^a-z0-9-]/g, "-")
    .replace(/^-+/, "")
    .replace(/-+$/, "");
  if (label === "") return "default";
  return (/^[a-z]/.test(label) ? label : `a${label}`).slice(0, MAX_LABEL).replace(/-+$/, "");
}

/**
 * The child names of a class's functions, in their order.
 *
 * A function that had a name keeps it (`assigned`), so that removing, adding or moving another one renames nothing. A new
 * one gets the name its position gives by the contract; when that is or just was another's, one made of its key: callers
 * must not reach the pods of a function that is being replaced.
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

/** Always with a hash (the empty part sees to it): a key may look like a position. */
function nameFromKey(base: string, key: string): string {
  return safeName([base, "fn", key, ""], { kind: "dns-1035-label" });
}

/** Guards against a status that somebody edited: a class never takes names outside its own. */
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

/** A StatefulSet's own name, which must be shorter than others. */
export function statefulSetName(name: string): string {
  return name.length <= MAX_STATEFUL_SET
    ? name
    : safeName([name, "set"], { kind: "dns-1035-label", maxLength: MAX_STATEFUL_SET });
}

/** A Job's own name: its pods cannot change, so that another spec (by its hash) is another Job. */
export function jobName(name: string, hash: string): string {
  return withSuffix(name, hash.slice(0, JOB_DIGITS));
}

/** The Service that gives each pod of a StatefulSet its own name. */
export function podsServiceName(name: string): string {
  return withSuffix(name, "pods");
}

/** Names of the state store's children. */
export function odgmNames(objectName: string) {
  const base = baseName(objectName);
  return {
    workload: withSuffix(base, "odgm"),
    service: withSuffix(base, "odgm", "svc"),
    pods: withSuffix(base, "odgm", "pods"),
    config: withSuffix(base, "odgm", "config"),
  };
}

/** Names of the objects by which Prometheus finds a class. */
export function monitorNames(objectName: string) {
  const base = baseName(objectName);
  return { service: withSuffix(base, "svcmon"), pod: withSuffix(base, "podmon") };
}
