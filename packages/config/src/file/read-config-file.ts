import { err, nearestName, ok, pathOf, ROOT_PATH, type Result, type Violation } from "@oaas/foundation";
import { parseYaml, yamlPosition, yamlSource, yamlValue, type YamlLimits } from "@oaas/foundation/yaml";
import type { ConfigSchema } from "../schema/define-config.ts";
import { fileKeys, variableOfKey, type FileKey } from "./file-keys.ts";

/** A configuration file and its text. */
export interface ConfigFile {
  readonly path: string;
  readonly text: string;
}

/** Where a violation is in a configuration file. */
export interface FilePlace {
  readonly file: string;
  /** Both from 1. */
  readonly line: number;
  readonly column: number;
  /** Key in the file, such as `server.port`; empty for a problem of the whole file. */
  readonly key: string;
}

/** A violation with its place in the configuration file, if it is there. */
export interface ConfigViolation extends Violation {
  readonly place?: FilePlace;
}

/** A value of the file, as the text of its variable. */
export interface FileValue {
  readonly text: string;
  /** Whether the text is the name of a file with the value. */
  readonly namesFile: boolean;
  /** Place of a part of the value; of the key itself without a path. */
  readonly placeOf: (path?: readonly (string | number)[]) => FilePlace;
}

/** The values of a file by the primary name of their variable. */
export interface FileValues {
  readonly path: string;
  readonly values: ReadonlyMap<string, FileValue>;
  readonly violations: readonly ConfigViolation[];
}

/** Limits of a configuration file: parsing one takes at most about 100 ms, because it is read again while serving. */
export const CONFIG_FILE_LIMITS: YamlLimits = {
  nodes: 50_000,
  depth: 20,
  characters: 1024 * 1024,
  tokens: 50_000,
  aliases: 100,
  documents: 1,
};

const MAX_VIOLATIONS = 100;

type Path = readonly (string | number)[];

/** What the walk of a document needs. */
interface Walk {
  readonly keys: readonly FileKey[];
  readonly values: Map<string, FileValue>;
  readonly violations: ConfigViolation[];
  readonly place: (path: Path) => FilePlace;
  readonly source: (path: Path) => string | undefined;
}

/** Reads a configuration file. Never throws; an unknown key is a violation that names the nearest one. */
export function readConfigFile(schema: ConfigSchema<unknown>, file: ConfigFile): FileValues {
  const values = new Map<string, FileValue>();
  const { documents, exceeded, lines } = parseYaml(file.text, { limits: CONFIG_FILE_LIMITS });
  const [first] = documents;
  const problems = exceeded === undefined ? (first?.problems ?? []) : [exceeded];
  if (problems.length > 0 || first === undefined) {
    const violations = problems.map(({ line, column, message, fix }) => ({
      path: ROOT_PATH,
      message,
      fix,
      place: { file: file.path, line, column, key: "" },
    }));
    return { path: file.path, values, violations };
  }
  const place = (path: Path): FilePlace => ({
    file: file.path,
    ...yamlPosition(first.document, lines, path),
    key: keyText(path),
  });
  const violations: ConfigViolation[] = [];
  const value = yamlValue(first.document, CONFIG_FILE_LIMITS);
  if (!value.ok) violations.push({ path: ROOT_PATH, message: value.message, fix: value.fix, place: place([]) });
  else {
    const source = (path: Path): string | undefined => yamlSource(first.document, path);
    walk(value.value, [], { keys: fileKeys(schema), values, violations, place, source });
  }
  return { path: file.path, values, violations: violations.slice(0, MAX_VIOLATIONS) };
}

function walk(value: unknown, path: readonly string[], context: Walk): void {
  if (value === null || value === undefined) return;
  if (!isMapping(value)) {
    const message = path.length === 0 ? "is not a mapping of settings" : "is not a mapping: it contains settings";
    reject(context, path, { message, fix: "write settings as key: value" });
    return;
  }
  for (const [name, part] of Object.entries(value)) {
    const at = [...path, name];
    const key = context.keys.find((each) => isSamePath(each.path, at));
    if (key !== undefined) readValue(key, part, context);
    else if (context.keys.some((each) => isUnder(each.path, at))) walk(part, at, context);
    else reject(context, at, { message: "is an unknown setting", ...suggestion(context.keys, path, name) });
  }
}

function readValue(key: FileKey, value: unknown, context: Walk): void {
  if (value === null || value === undefined || value === "") return;
  const { spec, namesFile } = key;
  const isInlineSecret = spec.secret && !namesFile && spec.secretMembers.length === 0;
  if (isInlineSecret) {
    const fix = spec.fromFile ? `put it into a file and set ${keyText(key.path)}File` : `set ${spec.name}`;
    reject(context, key.path, { message: "is a secret, which a configuration file must not contain", fix });
    return;
  }
  const inside = spec.secretMembers.flatMap((member) => pathsTo(value, member));
  for (const path of inside) {
    const fix = `put it into a file and set ${String(path.at(-1))}_file`;
    const message = "is a secret, which a configuration file must not contain";
    reject(context, [...key.path, ...path], { message, fix });
  }
  if (inside.length > 0) return;
  const text = textOf(namesFile ? undefined : spec.kind.written, value, (path) =>
    context.source([...key.path, ...path]),
  );
  if (!text.ok) {
    reject(context, [...key.path, ...text.error.at], text.error);
    return;
  }
  const other = context.values.get(spec.name);
  if (other !== undefined) {
    const message = `conflicts with ${other.placeOf().key}, another key of the same setting`;
    reject(context, key.path, { message, fix: "set only one of the two" });
    return;
  }
  context.values.set(spec.name, {
    text: text.value,
    namesFile,
    placeOf: (path = []) => context.place([...key.path, ...path]),
  });
}

interface Objection {
  /** Path below the key. */
  readonly at: Path;
  readonly message: string;
  readonly fix: string;
}

/** Converts a value to the text of an environment variable, so that both are parsed by the same code. */
function textOf(
  written: "list" | "mapping" | "document" | undefined,
  value: unknown,
  source: (path: Path) => string | undefined,
): Result<string, Objection> {
  if (written === "document") return ok(JSON.stringify(value));
  if (isScalar(value)) return ok(scalarText(value, source([])));
  if (written === "list" && Array.isArray(value)) {
    const bad = value.findIndex((item) => !isScalar(item) || String(item).includes(",") || String(item).trim() === "");
    if (bad >= 0) return err({ at: [bad], message: "must be a text without a comma", fix: "write one item per line" });
    return ok(value.map((item, index) => scalarText(item, source([index]))).join(","));
  }
  if (written === "mapping" && isMapping(value)) {
    const entries = Object.entries(value);
    const bad = entries.find(
      ([name, part]) => !isScalar(part) || /[,=]/.test(name) || name.trim() === "" || String(part).includes(","),
    );
    if (bad !== undefined) {
      return err({ at: [bad[0]], message: "must be a name with a text without a comma", fix: "write name: value" });
    }
    return ok(entries.map(([name, part]) => `${name}=${scalarText(part, source([name]))}`).join(","));
  }
  const expected = { list: "a list or a text", mapping: "a mapping or a text" };
  const form = written === undefined ? "a text, a number, true or false" : expected[written];
  return err({ at: [], message: `must be ${form}`, fix: "see the configuration reference" });
}

/** A number as it is written: a text setting with the value 012 is not 12. */
function scalarText(value: unknown, source: string | undefined): string {
  return typeof value === "number" && source !== undefined ? source : String(value);
}

function isScalar(value: unknown): boolean {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}

function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Paths of all members with this name at any depth. */
function pathsTo(value: unknown, member: string): readonly Path[] {
  if (typeof value !== "object" || value === null) return [];
  const entries: [string | number, unknown][] = Array.isArray(value)
    ? value.map((part: unknown, index) => [index, part])
    : Object.entries(value);
  return entries.flatMap(([key, part]) =>
    key === member ? [[key]] : pathsTo(part, member).map((path) => [key, ...path]),
  );
}

function reject({ violations, place }: Walk, path: Path, { message, fix }: { message: string; fix?: string }): void {
  if (violations.length > MAX_VIOLATIONS) return;
  const where = { path: pathOf(ROOT_PATH, ...path), place: place(path) };
  violations.push(fix === undefined ? { ...where, message } : { ...where, message, fix });
}

/** Names the nearest key: of the same mapping, of another one, or the key of a variable of the environment. */
function suggestion(keys: readonly FileKey[], path: readonly string[], name: string): { fix?: string } {
  const variable = name.toUpperCase();
  const ofVariable = keys.find(
    (key) => variableOfKey(key) === variable || key.spec.aliases.some((alias) => alias === variable),
  );
  if (ofVariable !== undefined) return { fix: `did you mean ${keyText(ofVariable.path)}?` };
  const siblings = keys.filter((key) => isUnder(key.path, path)).map((key) => key.path[path.length] ?? "");
  const near = nearestName(name, siblings);
  if (near !== undefined) return { fix: `did you mean ${keyText([...path, near])}?` };
  const elsewhere = keys.find((key) => key.path.at(-1)?.toLowerCase() === name.toLowerCase());
  if (elsewhere !== undefined) return { fix: `did you mean ${keyText(elsewhere.path)}?` };
  return { fix: `use ${[...new Set(siblings)].join(", ")}` };
}

function isSamePath(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && isUnder(one, other);
}

function isUnder(path: readonly string[], parent: readonly string[]): boolean {
  return parent.every((part, index) => path[index] === part);
}

/** `server.port`, `crm.clusters[0].url`. */
function keyText(path: Path): string {
  return pathOf(ROOT_PATH, ...path).replace(/^\$\.?/, "");
}
