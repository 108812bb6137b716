import type { OwnerReference } from "@oaas/kube-core";
import type { Manifest } from "../model/rendered.ts";
import type { Owner, RenderInput } from "../model/render-input.ts";
import type { Labels } from "./labels.ts";

interface Head {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly labels: Labels;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
}

/** Creates a child of the class with namespace, labels and owner reference, without undefined members. */
export function createManifest(input: RenderInput, head: Head, body: Readonly<Record<string, unknown>>): Manifest {
  const { apiVersion, kind, name, labels, annotations } = head;
  return omitUndefined({
    apiVersion,
    kind,
    metadata: {
      name,
      namespace: input.owner.namespace,
      labels,
      annotations: annotations === undefined || Object.keys(annotations).length === 0 ? undefined : annotations,
      ownerReferences: [ownerReference(input.owner)],
    },
    ...body,
  }) as Manifest;
}

/** The owner reference of a child: garbage collection and watches follow it. */
function ownerReference({ apiVersion, kind, name, uid }: Owner): OwnerReference {
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
}

/**
 * Removes undefined members, so that renderers can write optional members inline. Values without undefined members are
 * not copied.
 */
export function omitUndefined(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  return Array.isArray(value) ? omitUndefinedItems(value) : omitUndefinedMembers(value as Members);
}

type Members = Readonly<Record<string, unknown>>;

function omitUndefinedItems(items: readonly unknown[]): readonly unknown[] {
  let copy: unknown[] | undefined;
  for (let index = 0; index < items.length; index += 1) {
    const inner = omitUndefined(items[index]);
    if (inner === items[index]) copy?.push(inner);
    else (copy ??= items.slice(0, index)).push(inner);
  }
  return copy ?? items;
}

function omitUndefinedMembers(members: Members): Members {
  const names = Object.keys(members);
  let copy: Record<string, unknown> | undefined;
  for (let index = 0; index < names.length; index += 1) {
    const name = names[index] as string;
    const member = members[name];
    const inner = omitUndefined(member);
    if (copy === undefined && (inner === undefined || inner !== member)) {
      copy = {};
      for (const before of names.slice(0, index)) setMember(copy, before, members[before]);
    }
    if (copy !== undefined && inner !== undefined) setMember(copy, name, inner);
  }
  return copy ?? members;
}

/** Defines `__proto__` as a member: assigning it would change the prototype. */
function setMember(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== "__proto__") object[name] = value;
  else Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
}

/** Undefined for an empty list or map, which Kubernetes would store or reject. */
export function omitEmpty<T extends object>(value: T | undefined): T | undefined {
  return value === undefined || Object.keys(value).length === 0 ? undefined : value;
}
