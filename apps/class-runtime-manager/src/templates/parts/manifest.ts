import type { Manifest, RenderInput } from "../template.ts";
import type { Labels } from "./labels.ts";
import { ownerReference } from "./owner.ts";

interface Head {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly labels: Labels;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
}

/** A complete child of this class: namespace, labels and owner reference in place, undefined members gone. */
export function manifest(input: RenderInput, head: Head, body: Readonly<Record<string, unknown>>): Manifest {
  const { apiVersion, kind, name, labels, annotations } = head;
  return withoutUndefined({
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

/** The value without members that are undefined, so that makers may write what is optional in place. What has none is not copied. */
export function withoutUndefined(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const items: unknown[] = value.map(withoutUndefined);
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  const members = value as Readonly<Record<string, unknown>>;
  const kept: [string, unknown][] = [];
  let same = true;
  for (const name of Object.keys(members)) {
    const member = members[name];
    const inner = withoutUndefined(member);
    if (inner === undefined || inner !== member) same = false;
    if (inner !== undefined) kept.push([name, inner]);
  }
  return same ? value : Object.fromEntries(kept);
}

/** Undefined in place of a list or map that is empty, for members that Kubernetes would rather not see. */
export function unlessEmpty<T extends object>(value: T | undefined): T | undefined {
  return value === undefined || Object.keys(value).length === 0 ? undefined : value;
}
