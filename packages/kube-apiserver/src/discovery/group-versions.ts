import type { Kind, KindVersion } from "../kinds/kind.ts";
import { KIND_DATA } from "../kinds/built-in/kind-data.ts";

/** A kind in one version. */
export interface ServedKind {
  readonly kind: Kind;
  readonly version: KindVersion;
}

/** One version of a group with the kinds it serves. */
export interface GroupVersionKinds {
  readonly version: string;
  readonly kinds: readonly ServedKind[];
}

/** A group with its versions, the preferred first. */
export interface Group {
  readonly name: string;
  readonly versions: readonly GroupVersionKinds[];
}

/** The groups of these kinds: the core, built-in groups in their order, then custom groups by name. */
export function listGroups(kinds: readonly Kind[]): readonly Group[] {
  const byGroup = Map.groupBy(kinds, (kind) => kind.group);
  const own = KIND_DATA.groups.filter((name) => byGroup.has(name));
  const others = [...byGroup.keys()].filter((name) => name !== "" && !own.includes(name)).toSorted();
  const names = [...(byGroup.has("") ? [""] : []), ...own, ...others];
  return names
    .map((name) => ({ name, versions: listVersions(byGroup.get(name) ?? []) }))
    .filter(({ versions }) => versions.length > 0);
}

function listVersions(kinds: readonly Kind[]): readonly GroupVersionKinds[] {
  const served = kinds.flatMap((kind) =>
    kind.versions.filter(({ isServed }) => isServed).map((version): ServedKind => ({ kind, version })),
  );
  const byVersion = Map.groupBy(served, ({ version }) => version.name);
  return [...byVersion]
    .toSorted(([a], [b]) => compareVersions(a, b))
    .map(([version, list]) => ({ version, kinds: list }));
}

/** Stable versions before beta and alpha, newer before older, others last by name. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [rankVersion(a), rankVersion(b)];
  const difference = left.map((rank, index) => (right[index] ?? 0) - rank).find((each) => each !== 0);
  return difference ?? (a < b ? -1 : a > b ? 1 : 0);
}

const STAGES: Readonly<Record<string, number>> = { "": 3, beta: 2, alpha: 1 };

function rankVersion(version: string): readonly number[] {
  const [, major, stage = "", minor = "0"] = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version) ?? [];
  return major === undefined ? [0, 0, 0] : [STAGES[stage] ?? 0, Number(major), Number(minor)];
}
