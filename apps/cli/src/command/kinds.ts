import { UsageError } from "../exit-code.ts";

/** The kinds of objects that `get`, `describe` and `delete` know. The first short name is the one of the help. */
export const KINDS = [
  { name: "package", plural: "packages", shortNames: ["pkg", "pkgs", "p"] },
  { name: "deployment", plural: "deployments", shortNames: ["deploy", "dep", "de"] },
  {
    name: "class-runtime",
    plural: "class-runtimes",
    shortNames: ["crt", "cr", "runtime", "runtimes", "rts", "classruntime", "classruntimes"],
  },
  { name: "cluster", plural: "clusters", shortNames: ["env", "envs", "environment", "environments", "clu", "cl"] },
  { name: "class", plural: "classes", shortNames: ["cls", "c"] },
  { name: "function", plural: "functions", shortNames: ["fn", "fns", "f"] },
  { name: "event", plural: "events", shortNames: ["ev"] },
  { name: "context", plural: "contexts", shortNames: ["ctx"] },
] as const;

export type Kind = (typeof KINDS)[number];
export type KindName = Kind["name"];

/** The kind with this name, plural or short name, in any case. */
export function findKind(word: string): Kind | undefined {
  const wanted = word.toLowerCase();
  return KINDS.find(
    ({ name, plural, shortNames }) =>
      name === wanted || plural === wanted || (shortNames as readonly string[]).includes(wanted),
  );
}

/** The plural of a kind: packages, classes. */
export function pluralOf(kind: KindName): string {
  return KINDS.find(({ name }) => name === kind)?.plural ?? kind;
}

/** Parses the key of a deployment: `shop-order`, `deployment/shop-order` or `deploy/shop-order`. */
export function parseDeploymentKey(text: string): string {
  const { kind, name = text } = /^(?<kind>[^/]*)\/(?<name>.*)$/s.exec(text)?.groups ?? {};
  if (kind !== undefined && findKind(kind)?.name !== "deployment")
    throw new UsageError(`"${text}" is not a deployment`, "name a deployment, such as deployment/shop-order");
  if (name.trim() === "") throw new UsageError(`"${text}" has no name`, "name a deployment, such as shop-order");
  return name;
}
