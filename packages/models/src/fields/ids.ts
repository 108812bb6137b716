import type { Brand } from "@oaas/foundation";

/** Name of a package, unique in the registry; may contain dots. */
export type PackageName = Brand<string, "PackageName">;
/** Key of a class within its package; never contains a dot. */
export type ClassKey = Brand<string, "ClassKey">;
/** Key of a function within its package, usually `Class.method`. */
export type FunctionKey = Brand<string, "FunctionKey">;
/** Key of a class deployment, unique in the registry. */
export type DeploymentKey = Brand<string, "DeploymentKey">;
/** Id of one deployment in one cluster; a DNS label. */
export type UnitId = Brand<string, "UnitId">;
/** Name of a cluster in PM (`env` in some wire formats). */
export type ClusterName = Brand<string, "ClusterName">;
/** Identifies one request in every process, log line and event. */
export type CorrelationId = Brand<string, "CorrelationId">;
/** `package.Class`: the name of a class in collections, labels and lists. */
export type QualifiedClassKey = Brand<string, "QualifiedClassKey">;

/** Joins a package name and a class key. */
export function qualifyClassKey(packageName: PackageName, classKey: ClassKey): QualifiedClassKey {
  return `${packageName}.${classKey}` as QualifiedClassKey;
}

/**
 * Splits `package.Class` at its last dot, because package names may have dots; undefined if a part is missing.
 */
export function splitClassKey(
  qualified: string,
): { readonly packageName: PackageName; readonly classKey: ClassKey } | undefined {
  const dot = qualified.lastIndexOf(".");
  if (dot <= 0 || dot === qualified.length - 1) return undefined;
  return { packageName: qualified.slice(0, dot) as PackageName, classKey: qualified.slice(dot + 1) as ClassKey };
}
