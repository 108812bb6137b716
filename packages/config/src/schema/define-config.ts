import type { Violation } from "@oaas/foundation";
import { checkDefinition } from "./check-definition.ts";
import type { Family } from "./family.ts";
import type { Variable, VariableSpec } from "./variable.ts";

type AnyVariable = Variable<unknown, unknown, never>;

/** Variables by their key in the configuration; groups can be nested. */
export interface Shape {
  readonly [key: string]: AnyVariable | Family<unknown> | Shape;
}

/** Type of the configuration that a shape describes. */
export type ConfigOf<S> =
  S extends Variable<infer V, infer _T, infer _D>
    ? V
    : S extends Family<infer M>
      ? Readonly<Record<string, M>>
      : { readonly [K in keyof S]: ConfigOf<S[K]> };

/** A variable or family with its path in the configuration. */
export interface Placed<T> {
  readonly path: readonly string[];
  readonly at: T;
}

declare const configType: unique symbol;

/** Schema of a configuration: input of `parseConfig`, `configHelp`, `configReport` and `configReference`. */
export interface ConfigSchema<C> {
  readonly [configType]?: C;
  /** Display name of the program. */
  readonly title: string;
  readonly prefixes: readonly string[];
  /** Variable that selects the profile. */
  readonly profile: VariableSpec | undefined;
  readonly variables: readonly Placed<VariableSpec>[];
  readonly families: readonly Placed<Family<unknown>>[];
  /** Names that are accepted and have no effect, each with the reason. The configuration does not hold them. */
  readonly removedSettings: ReadonlyMap<string, string>;
  /** Variable that names the configuration file, as the flag --config does; undefined if the program reads none. */
  readonly configFile: string | undefined;
  /** Checks rules between variables. A method, so that every schema is a `ConfigSchema<unknown>`. */
  check(config: C): readonly Violation[];
}

export interface SchemaOptions<S extends Shape> {
  readonly title: string;
  /** An undeclared variable with one of these prefixes is an error, because it is probably misspelt. */
  readonly prefixes: readonly string[];
  /** Key of the variable that selects the profile. */
  readonly profile?: keyof S & string;
  readonly variables: S;
  /**
   * Names that are accepted and have no effect, by the reason why. They keep an existing deployment manifest valid;
   * `--help` and the reference list them, and the service logs a warning for each one that is set.
   */
  readonly removedSettings?: Readonly<Record<string, readonly string[]>>;
  /** Variable that names a configuration file in YAML. Without it the program reads none. */
  readonly configFile?: string;
  /** Rules between variables, checked when every variable is valid; paths are `$.VARIABLE_NAME`. */
  readonly checks?: readonly ((config: ConfigOf<S>) => readonly Violation[])[];
}

/** Declares the configuration of a program. Throws a TypeError when the declaration is invalid. */
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
  const removedSettings = Object.entries(options.removedSettings ?? {}).flatMap(([reason, names]) =>
    names.map((name) => [name, reason] as const),
  );
  const schema: ConfigSchema<ConfigOf<S>> = {
    title: options.title,
    prefixes: options.prefixes,
    profile: variables.find((variable) => variable.path.length === 1 && variable.path[0] === profile)?.at,
    variables,
    families,
    removedSettings: new Map(removedSettings),
    configFile: options.configFile,
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
