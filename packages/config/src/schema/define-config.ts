import type { Violation } from "@oaas/foundation";
import { checkDefinition } from "./check-definition.ts";
import type { Family } from "./family.ts";
import type { Variable, VariableSpec } from "./variable.ts";

type AnyVariable = Variable<unknown, unknown, never>;

/** Variables by the key they have in the configuration; groups nest. */
export interface Shape {
  readonly [key: string]: AnyVariable | Family<unknown> | Shape;
}

/** The configuration that a shape describes. */
export type ConfigOf<S> =
  S extends Variable<infer V, infer _T, infer _D>
    ? V
    : S extends Family<infer M>
      ? Readonly<Record<string, M>>
      : { readonly [K in keyof S]: ConfigOf<S[K]> };

/** A variable or family and where its value goes in the configuration. */
export interface Placed<T> {
  readonly path: readonly string[];
  readonly at: T;
}

declare const configType: unique symbol;

/** A whole schema: what `parseConfig`, `configHelp`, `configReport` and `configReference` work on. */
export interface ConfigSchema<C> {
  readonly [configType]?: C;
  /** Of the program, for people. */
  readonly title: string;
  readonly prefixes: readonly string[];
  /** The variable that chooses the profile. */
  readonly profile: VariableSpec | undefined;
  readonly variables: readonly Placed<VariableSpec>[];
  readonly families: readonly Placed<Family<unknown>>[];
  /** Names that are accepted and have no effect, each with the reason. The configuration does not hold them. */
  readonly notUsedYet: ReadonlyMap<string, string>;
  /** What the rules between variables find. A method, so that every schema is a `ConfigSchema<unknown>`. */
  check(config: C): readonly Violation[];
}

export interface SchemaOptions<S extends Shape> {
  readonly title: string;
  /** Any variable that starts so and is not declared stops the start: it is most likely misspelt. */
  readonly prefixes: readonly string[];
  /** The key of the variable that chooses the profile. */
  readonly profile?: keyof S & string;
  readonly variables: S;
  /**
   * Names that are accepted and have no effect, by the reason why. They keep an existing deployment manifest valid;
   * `--help` and the reference list them, and the service logs a warning for each one that is set.
   */
  readonly notUsedYet?: Readonly<Record<string, readonly string[]>>;
  /** Rules between variables, asked when each by itself is right; paths are `$.VARIABLE_NAME`. */
  readonly checks?: readonly ((config: ConfigOf<S>) => readonly Violation[])[];
}

/** Declares a program's configuration. Throws a TypeError when the declaration itself is at fault. */
export function defineConfig<const S extends Shape>(options: SchemaOptions<S>): ConfigSchema<ConfigOf<S>> {
  const variables: Placed<VariableSpec>[] = [];
  const families: Placed<Family<unknown>>[] = [];
  const collect = (shape: Shape, under: readonly string[]): void => {
    for (const [key, node] of Object.entries(shape)) {
      const path = [...under, key];
      if (isVariable(node)) variables.push({ path, at: node.spec });
      else if (isFamily(node)) families.push({ path, at: node });
      else collect(node, path);
    }
  };
  collect(options.variables, []);
  const { profile, checks = [] } = options;
  const notUsedYet = Object.entries(options.notUsedYet ?? {}).flatMap(([reason, names]) =>
    names.map((name) => [name, reason] as const),
  );
  const schema: ConfigSchema<ConfigOf<S>> = {
    title: options.title,
    prefixes: options.prefixes,
    profile: variables.find((variable) => variable.path.length === 1 && variable.path[0] === profile)?.at,
    variables,
    families,
    notUsedYet: new Map(notUsedYet),
    check: (config) => checks.flatMap((check) => check(config)),
  };
  checkDefinition(schema, profile);
  return schema;
}

function isVariable(node: Shape[string]): node is AnyVariable {
  return node["declares"] === "variable";
}

function isFamily(node: Shape[string]): node is Family<unknown> {
  return node["declares"] === "family";
}
