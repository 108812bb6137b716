import type { CommandContext } from "@stricli/core";
import type { CliContext } from "./command.ts";
import { findKind, KINDS, type KindName } from "./kinds.ts";

/** Proposes the values that start with the text typed so far. The context is always a `CliContext`. */
export type Completer = (this: CommandContext, partial: string) => Promise<readonly string[]>;

/** The arguments typed before the one to complete. */
export interface TypedArguments {
  readonly positionals: readonly string[];
  /** The value of `--context`. */
  readonly contextName?: string;
}

/** Completes fixed values, such as those of an enumeration. */
export function completeValues(...values: readonly string[]): Completer {
  return async (partial) => startingWith(partial, values);
}

/** Completes names of existing objects; nothing while the package manager does not respond. */
export function completeNames(kind: KindName): Completer {
  return async function (partial) {
    return startingWith(partial, await listNames(this, kind));
  };
}

/** Completes values that are loaded on use. */
export function completeLoaded(load: () => Promise<readonly string[]>): Completer {
  return async (partial) => startingWith(partial, await load());
}

/** Completes the key of a deployment, also after `deployment/`. */
export const completeDeployment: Completer = async function (partial) {
  return partial.includes("/")
    ? completeReference(this, partial)
    : startingWith(partial, await listNames(this, "deployment"));
};

/** Completes what `explain` takes: a deployment, `deployment/NAME`, or a kind. */
export const completeSubject: Completer = async function (partial) {
  const deployments = await completeDeployment.call(this, partial);
  return [
    ...deployments,
    ...startingWith(
      partial,
      KINDS.map(({ name }) => name).filter((name) => name !== "context"),
    ),
  ];
};

/** Completes `KIND NAME…` and `KIND/NAME…`, and `words` in place of a kind. */
export function completeTargets(...words: readonly string[]): Completer {
  return async function (partial) {
    if (partial.includes("/")) return completeReference(this, partial);
    const { positionals: [first, ...names] = [] } = (this as CliContext).typed ?? {};
    if (first === undefined || first.includes("/"))
      return startingWith(partial, [...KINDS.map(({ plural }) => plural), ...KINDS.map(({ name }) => name), ...words]);
    const kind = findKind(first);
    if (kind === undefined) return [];
    const known = await listNames(this, kind.name);
    return startingWith(
      partial,
      known.filter((name) => !names.includes(name)),
    );
  };
}

async function completeReference(context: CommandContext, partial: string): Promise<readonly string[]> {
  const at = partial.indexOf("/");
  const kind = findKind(partial.slice(0, at));
  if (kind === undefined) return [];
  const names = startingWith(partial.slice(at + 1), await listNames(context, kind.name));
  return names.map((name) => `${partial.slice(0, at)}/${name}`);
}

function startingWith(partial: string, values: readonly string[]): readonly string[] {
  return values.filter((value) => value.startsWith(partial));
}

async function listNames(context: CommandContext, kind: KindName): Promise<readonly string[]> {
  const { environment, typed } = context as CliContext;
  const [{ readNames }, loaded] = await Promise.all([import("./read-names.ts"), environment()]);
  return readNames(loaded, kind, typed?.contextName);
}
