import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/**
 * Writes the messages that the embedded API server needs to read protobuf bodies: number, JSON name and type of
 * each field. `kubectl create` and other typed clients send protobuf. Input: the sources from `go mod download`:
 *
 *   node tools/kindgen/protobuf-messages.ts "$(go env GOMODCACHE)/k8s.io" v0.36.3
 */
const OUTPUT = join(import.meta.dirname, "..", "..", "packages", "kube-apiserver", "src", "gen", "protobuf.json");

interface Field {
  readonly number: string;
  readonly name: string;
  readonly type: string;
  readonly isRepeated: boolean;
}

/** `number name type`, with `[]` before a repeated type; an inlined message has no name. */
type FieldText = string;

interface Found {
  readonly messages: Record<string, FieldText[]>;
  /** Message packages by `group/version`. */
  readonly packages: Record<string, string>;
}

function messagesOf(modules: string, version: string): Found {
  const found: Found = { messages: {}, packages: {} };
  for (const module of ["api", "apimachinery", "apiextensions-apiserver"]) {
    const root = join(modules, `${module}@${version}`);
    if (!existsSync(root)) throw new Error(`${root} is missing; run: go mod download k8s.io/${module}@${version}`);
    for (const file of globSync("**/generated.proto", { cwd: root })) {
      if (/\/v\d+(alpha|beta)\d+\//.test(`/${file}`)) continue;
      add(found, join(root, file));
    }
  }
  return found;
}

function add({ messages, packages }: Found, file: string): void {
  const text = readFileSync(file, "utf8");
  const [, name = ""] = /^package (\S+);$/m.exec(text) ?? [];
  const folder = dirname(file);
  const sources = globSync("*.go", { cwd: folder }).map((source) => readFileSync(join(folder, source), "utf8"));
  const group = groupOf(folder, sources);
  const version = name.split(".").at(-1) ?? "";
  if (group !== undefined) packages[`${group}/${version}`] = name;
  const tags = jsonNames(sources.join("\n"));
  for (const [, message = "", body = ""] of text.matchAll(/^message (\w+) \{\n(.*?)^\}/gms)) {
    messages[`${name}.${message}`] = fieldsIn(body).map(({ number, name: field, type, isRepeated }) => {
      const shown = tags.get(`${message} ${number}`) ?? field;
      return `${number} ${shown} ${isRepeated ? "[]" : ""}${qualified(type, name)}`;
    });
  }
}

/** The qualified type: `map:` before a value type, a dot before a type of another package. */
function qualified(type: string, own: string): string {
  if (type.startsWith("map:")) return `map:${qualified(type.slice("map:".length), own)}`;
  if (type.startsWith(".")) return type.slice(1);
  return /^[A-Z]/.test(type) ? `${own}.${type}` : type;
}

function fieldsIn(body: string): readonly Field[] {
  const pattern = /^ {2}(optional|repeated|map<(\w+), ([\w.]+)>) ?([\w.]+)? (\w+) = (\d+);/gm;
  return [...body.matchAll(pattern)].map(([, label = "", , value, type = "", name = "", number = ""]) =>
    value === undefined
      ? { number, name, type, isRepeated: label === "repeated" }
      : { number, name, type: `map:${value}`, isRepeated: false },
  );
}

/** The API group that a package registers. */
function groupOf(folder: string, sources: readonly string[]): string | undefined {
  const own = /^const GroupName = "(.*)"$/m;
  const parent = globSync("register.go", { cwd: dirname(folder) }).map((file) =>
    readFileSync(join(dirname(folder), file), "utf8"),
  );
  for (const source of [...sources, ...parent]) {
    const group = own.exec(source)?.[1];
    if (group !== undefined) return group;
  }
  return undefined;
}

/** JSON names by struct and number; `-` for inlined fields. */
function jsonNames(source: string): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const [, struct = "", body = ""] of source.matchAll(/^type (\w+) struct \{\n(.*?)^\}/gms)) {
    for (const [, json = "", number = ""] of body.matchAll(/`json:"([^"]*)" protobuf:"\w+,(\d+),[^"]*"/g)) {
      const [name = ""] = json.split(",");
      names.set(`${struct} ${number}`, name === "" ? "-" : name);
    }
  }
  return names;
}

const [modules = "", version = ""] = process.argv.slice(2);
const { messages, packages } = messagesOf(modules, version);
const kept = reachable(
  messages,
  Object.keys(messages).filter((name) => !name.endsWith("List")),
);
writeFileSync(OUTPUT, `${JSON.stringify({ packages: sorted(packages), messages: sorted(kept) })}\n`);

function reachable(all: Record<string, FieldText[]>, roots: readonly string[]): Record<string, FieldText[]> {
  const names = new Set(roots);
  for (const name of names) {
    for (const field of all[name] ?? []) {
      const type = (field.split(" ")[2] ?? "").replace(/^\[\]|^map:/, "");
      if (all[type] !== undefined) names.add(type);
    }
  }
  return Object.fromEntries([...names].map((name) => [name, all[name] ?? []]));
}

function sorted<T>(record: Record<string, T>): Record<string, T> {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
}
