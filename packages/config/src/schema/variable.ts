import type { Result, Violation } from "@oaas/foundation";
import { byteSizeKind } from "../kinds/byte-size.ts";
import { jsonKind, keyValuesKind, listKind } from "../kinds/compound-kinds.ts";
import { durationKind, type DurationOptions } from "../kinds/duration.ts";
import type { Kind } from "../kinds/kind.ts";
import {
  boolKind,
  floatKind,
  intKind,
  oneOfKind,
  pathKind,
  portKind,
  stringKind,
  urlKind,
} from "../kinds/scalar-kinds.ts";

/** Declaration of a variable without its static type. */
export interface VariableSpec {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly kind: Kind<unknown, never>;
  readonly required: boolean;
  /** Undefined if the variable has no default. */
  readonly defaultValue: unknown;
  readonly profileDefaults: ReadonlyMap<string, unknown>;
  readonly doc: string;
  readonly example: string | undefined;
  readonly secret: boolean;
  /** Whether `<NAME>_FILE` may name a file with the value. */
  readonly fromFile: boolean;
  /** Members of a document that are secrets; the rest of it is not. */
  readonly secretMembers: readonly string[];
  /** Last key in the configuration file, if it differs from the key in the schema; false if the file cannot set it. */
  readonly fileKey: string | false | undefined;
  /** Whether a change of the configuration file takes effect without a restart. */
  readonly reloads: boolean;
}

declare const valueType: unique symbol;

/**
 * Builder of a variable declaration. Each method returns a new declaration.
 *
 * `V` is the type in the configuration, `T` the type of a present value, `D` the type of a default in the schema.
 * Without `default` or `optional` the variable is required.
 */
export interface Variable<V, T = V, D = T> {
  readonly [valueType]?: V;
  readonly declares: "variable";
  readonly spec: VariableSpec;
  /** Value when the variable is not set. */
  default(written: D): Variable<T, T, D>;
  /** Allows the variable to be unset. */
  optional(): Variable<T | undefined, T, D>;
  /** Defaults by profile; other profiles use the plain default. */
  defaultIn(perProfile: Readonly<Record<string, D>>): Variable<V, T, D>;
  /** Other names of the variable. Different values under two names are an error. */
  alias(...names: readonly string[]): Variable<V, T, D>;
  /** Describes the effect of the variable, for operators. */
  doc(text: string): Variable<V, T, D>;
  example(text: string): Variable<V, T, D>;
  /** The value is never printed. By default it can also be read from the file that `<NAME>_FILE` names. */
  secret(options?: SecretOptions): Variable<V, T, D>;
  /** Allows `<NAME>_FILE` to name a file with the value. */
  fromFile(): Variable<V, T, D>;
  /** Key in the configuration file. By default the key in the schema, for durations without `Ms`. */
  fileKey(key: string | false): Variable<V, T, D>;
  /** A change of the configuration file takes effect without a restart. */
  reloads(): Variable<V, T, D>;
}

export interface SecretOptions {
  readonly fromFile?: boolean;
  /** The secret members of a document. A configuration file may contain the document without them. */
  readonly members?: readonly string[];
}

/** Starts the declaration of a variable; the method selects its type. */
export function env(name: string) {
  const as = <T, D>(kind: Kind<T, D>): Variable<T, T, D> => declared(bareSpec(name, kind as Kind<unknown, never>));
  return {
    /** A custom type. */
    as,
    string: (options?: Parameters<typeof stringKind>[0]) => as(stringKind(options)),
    int: (range?: Parameters<typeof intKind>[0]) => as(intKind(range)),
    float: (range?: Parameters<typeof floatKind>[0]) => as(floatKind(range)),
    bool: () => as(boolKind()),
    port: () => as(portKind()),
    url: (...schemes: readonly string[]) => as(urlKind(schemes.length === 0 ? undefined : schemes)),
    path: () => as(pathKind()),
    oneOf: <const O extends readonly string[]>(options: O, synonyms?: Readonly<Record<string, O[number]>>) =>
      as(oneOfKind(options, synonyms)),
    /** In milliseconds. */
    duration: (options?: DurationOptions) => as(durationKind(options)),
    /** In bytes. */
    byteSize: (range?: Parameters<typeof byteSizeKind>[0]) => as(byteSizeKind(range)),
    list: <T = string>(of?: Kind<T, never>) => as(listKind<T>(of)),
    keyValues: () => as(keyValuesKind()),
    json: <T>(label: string, check: (value: unknown) => Result<T, readonly Violation[]>) => as(jsonKind(label, check)),
  };
}

/** Returns a copy with other names. */
export function renamed(spec: VariableSpec, rename: (name: string) => string): VariableSpec {
  return { ...spec, name: rename(spec.name), aliases: spec.aliases.map(rename) };
}

function declared<V, T, D>(spec: VariableSpec): Variable<V, T, D> {
  const value = (written: D): unknown => (spec.kind as unknown as Kind<T, D>).fromDefault(written);
  return {
    declares: "variable",
    spec,
    default: (written) => declared({ ...spec, required: false, defaultValue: value(written) }),
    optional: () => declared({ ...spec, required: false }),
    defaultIn: (perProfile) => {
      const entries = Object.entries(perProfile).map(([profile, written]) => [profile, value(written)] as const);
      return declared({ ...spec, profileDefaults: new Map([...spec.profileDefaults, ...entries]) });
    },
    alias: (...names) => declared({ ...spec, aliases: [...spec.aliases, ...names] }),
    doc: (doc) => declared({ ...spec, doc }),
    example: (example) => declared({ ...spec, example }),
    secret: ({ fromFile = true, members = [] } = {}) =>
      declared({ ...spec, secret: true, fromFile, secretMembers: members }),
    fromFile: () => declared({ ...spec, fromFile: true }),
    fileKey: (fileKey) => declared({ ...spec, fileKey }),
    reloads: () => declared({ ...spec, reloads: true }),
  };
}

function bareSpec(name: string, kind: Kind<unknown, never>): VariableSpec {
  return {
    name,
    aliases: [],
    kind,
    required: true,
    defaultValue: undefined,
    profileDefaults: new Map(),
    doc: "",
    example: undefined,
    secret: false,
    fromFile: false,
    secretMembers: [],
    fileKey: undefined,
    reloads: false,
  };
}
