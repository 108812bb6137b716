import { compareElements, formatElement, type PathElement } from "./path-element.ts";

/** The path to a field from the root of an object. */
export type FieldPath = readonly PathElement[];

/**
 * A set of fields of an object: its members, and the sets below them. A field in the set does not imply its parent. No
 * set has an empty child.
 */
export interface FieldSet {
  readonly members: ReadonlySet<PathElement>;
  readonly children: ReadonlyMap<PathElement, FieldSet>;
}

/** The empty set. */
export const NO_FIELDS: FieldSet = { members: new Set(), children: new Map() };

/** Whether there is no field in the set. */
export function isEmptySet(set: FieldSet): boolean {
  return set.members.size === 0 && set.children.size === 0;
}

/** The set below a step. */
export function fieldsBelow(set: FieldSet, element: PathElement): FieldSet {
  return set.children.get(element) ?? NO_FIELDS;
}

/** The set of these fields. The object itself (the empty path) is not a field. */
export function createFieldSet(paths: Iterable<FieldPath>): FieldSet {
  const root = createMutableSet();
  for (const path of paths) {
    let at = root;
    const last = path.length - 1;
    for (let step = 0; step < last; step += 1) at = getOrAddChild(at, path[step] as PathElement);
    if (last >= 0) at.members.add(path[last] as PathElement);
  }
  return root;
}

/** A set under construction; not shared yet. */
export interface MutableFieldSet extends FieldSet {
  readonly members: Set<PathElement>;
  readonly children: Map<PathElement, MutableFieldSet>;
}

export function createMutableSet(): MutableFieldSet {
  return { members: new Set(), children: new Map() };
}

function getOrAddChild({ children }: MutableFieldSet, element: PathElement): MutableFieldSet {
  const existing = children.get(element);
  if (existing !== undefined) return existing;
  const child = createMutableSet();
  children.set(element, child);
  return child;
}

/** The fields in the server's order: on each level first the members, then the fields below them. */
export function* listPaths(set: FieldSet, base: FieldPath = []): Generator<FieldPath> {
  for (const member of [...set.members].sort(compareElements)) yield [...base, member];
  for (const element of [...set.children.keys()].sort(compareElements)) {
    yield* listPaths(fieldsBelow(set, element), [...base, element]);
  }
}

/** A path as the server writes it: `.spec.ports[port=80].name`. */
export function formatPath(path: FieldPath): string {
  return path.map(formatElement).join("");
}

/** Union. */
export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (isEmptySet(a) || a === b) return b;
  if (isEmptySet(b)) return a;
  return {
    members: new Set([...a.members, ...b.members]),
    children: new Map(
      unionKeys(a, b).map((element) => [element, union(fieldsBelow(a, element), fieldsBelow(b, element))]),
    ),
  };
}

/** Intersection. */
export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  if (isEmptySet(a) || isEmptySet(b)) return NO_FIELDS;
  return mapChildren(
    filterMembers(a, (member) => b.members.has(member)),
    a,
    (child, element) => intersection(child, fieldsBelow(b, element)),
  );
}

/** Difference; a field below a field of the second set stays. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  if (isEmptySet(a) || isEmptySet(b)) return a;
  return mapChildren(
    filterMembers(a, (member) => !b.members.has(member)),
    a,
    (child, element) => difference(child, fieldsBelow(b, element)),
  );
}

/** Fields of the first set that are neither in the second nor below one of its fields. */
export function differenceBelow(a: FieldSet, b: FieldSet): FieldSet {
  if (isEmptySet(a) || isEmptySet(b)) return a;
  return mapChildren(
    filterMembers(a, (member) => !b.members.has(member)),
    a,
    (child, element) => (b.members.has(element) ? NO_FIELDS : differenceBelow(child, fieldsBelow(b, element))),
  );
}

/** Whether both sets are equal. */
export function equalSets(a: FieldSet, b: FieldSet): boolean {
  return isEmptySet(difference(a, b)) && isEmptySet(difference(b, a));
}

function filterMembers({ members }: FieldSet, isKept: (member: PathElement) => boolean): ReadonlySet<PathElement> {
  const filtered = new Set<PathElement>();
  for (const member of members) if (isKept(member)) filtered.add(member);
  // Usually all fields stay: then no second set is needed.
  return filtered.size === members.size ? members : filtered;
}

function unionKeys(a: FieldSet, b: FieldSet): readonly PathElement[] {
  return [...new Set([...a.children.keys(), ...b.children.keys()])];
}

/** These members, with filtered children; empty children are omitted. */
function mapChildren(
  members: ReadonlySet<PathElement>,
  { children }: FieldSet,
  change: (child: FieldSet, element: PathElement) => FieldSet,
): FieldSet {
  const changed = new Map<PathElement, FieldSet>();
  for (const [element, child] of children) {
    const next = change(child, element);
    if (!isEmptySet(next)) changed.set(element, next);
  }
  return { members, children: changed };
}
