import type { KubeObject, ManagedFieldsEntry } from "@oaas/kube-core";

/** The owners of each field of an object, without its status. A field is a leaf of the managed fields. */
export function fieldOwners({ metadata }: KubeObject): ReadonlyMap<string, readonly string[]> {
  const owners = new Map<string, string[]>();
  for (const entry of metadata.managedFields ?? []) {
    if (entry.subresource === "status") continue;
    for (const path of leavesOf(entry.fieldsV1 ?? {})) {
      if (!path.startsWith("f:status")) owners.set(path, [...(owners.get(path) ?? []), managerOf(entry)]);
    }
  }
  return owners;
}

function managerOf({ manager = "", subresource }: ManagedFieldsEntry): string {
  return subresource === undefined ? manager : `${manager} (${subresource})`;
}

function leavesOf(fields: object, prefix = ""): readonly string[] {
  const entries = Object.entries(fields).filter(([name]) => name !== ".");
  if (entries.length === 0) return prefix === "" ? [] : [prefix];
  return entries.flatMap(([name, value]) => leavesOf(value as object, prefix === "" ? name : `${prefix} ${name}`));
}

/**
 * Watches who owns the fields of objects over time.
 *
 * A field has two writers when it has several owners at one time, or when its owner changes more than once: a single
 * change is a handover, such as from the first replicas to an autoscaler, and a return is a fight.
 */
export class FieldWriters {
  readonly #history = new Map<string, readonly string[]>();
  readonly shared = new Set<string>();

  observe(objects: readonly KubeObject[]): void {
    for (const object of objects) {
      for (const [path, owners] of fieldOwners(object)) {
        const field = `${object.kind}/${object.metadata.name} ${path}`;
        if (owners.length > 1) this.shared.add(`${field}: ${owners.join(", ")}`);
        const past = this.#history.get(field) ?? [];
        const owner = owners.join(", ");
        if (past.at(-1) !== owner) this.#history.set(field, [...past, owner]);
      }
    }
  }

  /** Fields whose owner changed more than once, with all owners. */
  get fought(): readonly string[] {
    return [...this.#history]
      .filter(([, owners]) => owners.length > 2)
      .map(([field, owners]) => `${field}: ${owners.join(" -> ")}`);
  }
}
