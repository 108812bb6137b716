import { canonicalJson, isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "@oaas/kube-core";

const UUID = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g;
const TIME = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)/g;
const ADDRESS = /\b10\.\d{1,3}\.\d{1,3}\.\d{1,3}\b/g;
/** Which of the simulated nodes a pod comes to is the scheduler's own affair. */
const NODE = /\bnode-[01]\b/g;
const TOKEN = /\beyJ[\w-]+\.[\w-]+\.[\w-]+/g;
/** `X is invalid: [a, b]`: the server visits members in no order; the causes say the same and are sorted. */
const LISTED = /(is invalid: )\[.*\]$/s;
/** Certificates are each server's own; how many there are, and that they are some, is not. */
const CERTIFICATE = /-----BEGIN CERTIFICATE-----\n[\w+/=\n]+-----END CERTIFICATE-----\n?/g;
/**
 * Errors of an apply against its schema. The real server walks over maps in no order and stops at what is not declared: which other errors it has come
 * upon by then is chance, and the same request is told others the next time.
 */
const UNREADABLE = /(failed to create typed patch object \([^)]*\): )(?:errors:\n)?(.*)$/s;
const UNDECLARED = "field not declared in schema";
const HASH_LABELS = ["pod-template-hash", "controller-revision-hash"];

/** What kubectl logs of a watch that its own deadline cut: whether it does is a matter of which of its routines hears of the end first. */
const CUT_WATCH = /^E\d{4} [\d:.]+ +\d+ reflector\.go:\d+\] .*context deadline exceeded.*\n/gm;

/** How much the server adds to a name that it is to make up. */
const MADE_LENGTH = 5;

/**
 * Makes what a server answered comparable with what another did: times go, ids and versions become numbers in the order in which they appear, so
 * that equal ones stay equal and different ones different. One for a whole case and server.
 */
export class Normaliser {
  readonly #uids = new Map<string, string>();
  readonly #versions = new Map<string, string>();
  /** Names and hashes that the server made up; longest first when replaced. */
  readonly #made = new Map<string, string>();

  value(value: JsonValue): JsonValue {
    this.#learn(value);
    return this.#normal(value, "");
  }

  /** What a command printed. */
  text(text: string): string {
    return (
      this.#string(text)
        .replaceAll(CUT_WATCH, "")
        .replaceAll(/((?:resourceVersion|Resource Version):?\s+"?)\d+/g, "$1<rv>")
        .replaceAll(/\b(\d+d)?(\d+h)?(\d+m)?\d+(\.\d+)?(s|ms)\b( ago)?/g, "<age>")
        .replaceAll(/(CreationTimestamp|Start Time|Started|Finished):(\s+)\w{3}, \d.*$/gm, "$1:$2<time>")
        // Columns are as wide as what is in them.
        .replaceAll(/(\S) {2,}/g, "$1  ")
        .replaceAll(/:3\d{4}\b/g, ":<port>")
        .replaceAll(/https?:\/\/127\.0\.0\.1:\d+/g, "<url>")
    );
  }

  /** Learns the names that the server made up, before anything is replaced. */
  #learn(value: JsonValue): void {
    if (isJsonArray(value)) {
      for (const item of value) this.#learn(item);
      return;
    }
    if (!isJsonObject(value)) return;
    const { generateName, name, labels } = value;
    if (typeof generateName === "string" && typeof name === "string" && name.startsWith(generateName)) {
      const made = name.slice(generateName.length);
      // Pods of a StatefulSet have such a beginning too, and end with a number.
      if (made.length === MADE_LENGTH) this.#learnMade(made, "made");
    }
    if (labels !== undefined && isJsonObject(labels)) {
      for (const label of HASH_LABELS) {
        const hash = labels[label];
        if (typeof hash === "string" && hash !== "") this.#learnMade(hash.slice(hash.lastIndexOf("-") + 1), "hash");
      }
    }
    for (const member of Object.values(value)) this.#learn(member);
  }

  #learnMade(text: string, word: string): void {
    if (text !== "" && !this.#made.has(text)) this.#made.set(text, `<${word} ${this.#made.size + 1}>`);
  }

  #normal(value: JsonValue, key: string): JsonValue {
    if (typeof value === "string") return this.#member(key, value);
    if (typeof value === "number") return key === "nodePort" || key === "healthCheckNodePort" ? "<port>" : value;
    if (isJsonArray(value)) {
      const items = value.map((item) => this.#normal(item, ""));
      return key === "managedFields" || key === "causes" ? sorted(items) : items;
    }
    if (!isJsonObject(value)) return value;
    const isList = isListLike(value);
    const normal: Record<string, JsonValue> = {};
    // In the order of names, since numbers are given in the order of appearance.
    for (const name of Object.keys(value).sort()) {
      const member = value[name] as JsonValue;
      normal[name] =
        name === "metadata" && isList && isJsonObject(member)
          ? this.#normal(listMetadata(member), name)
          : this.#normal(member, name);
    }
    return normal;
  }

  #member(key: string, text: string): string {
    if (key === "resourceVersion" && /^[1-9]\d*$/.test(text)) return this.#numbered(this.#versions, text, "rv");
    if (key === "continue" && text !== "") return "<continue>";
    return this.#string(text).replace(LISTED, "$1[…]");
  }

  #string(text: string): string {
    let result = withSortedQuotes(text)
      .replaceAll(UUID, (uid) => this.#numbered(this.#uids, uid, "uid"))
      .replaceAll(TIME, (_, fraction: string | undefined) => (fraction === undefined ? "<time>" : "<microtime>"))
      .replaceAll(TOKEN, "<token>")
      .replace(UNREADABLE, (_, head: string, list: string) => head + certainErrors(list))
      .replaceAll(CERTIFICATE, "<certificate>")
      .replaceAll(/(in the precondition|in record) \(\d+\)/g, "$1 (<rv>)")
      .replaceAll(/(ResourceVersion in object meta: )\d+/g, "$1<rv>")
      // Objects that a message quotes, however often they were quoted before.
      .replaceAll(/(resourceVersion\\+":\\*")\d+/g, "$1<rv>")
      .replaceAll(ADDRESS, "<ip>")
      .replaceAll(NODE, "<node>");
    for (const [made, word] of this.#made) if (result.includes(made)) result = result.replaceAll(made, word);
    return result;
  }

  #numbered(known: Map<string, string>, text: string, word: string): string {
    const number = known.get(text) ?? `<${word} ${known.size + 1}>`;
    known.set(text, number);
    return number;
  }
}

/** The version of a list, of a table and of a bookmark is the store's at that moment, which others move as well. */
function isListLike(value: JsonObject): boolean {
  const { kind, metadata, items, rows } = value;
  if (metadata === undefined || !isJsonObject(metadata)) return false;
  if (items !== undefined || rows !== undefined) return true;
  const { annotations } = metadata;
  const isBookmark = metadata["name"] === undefined && metadata["uid"] === undefined && kind !== undefined;
  return (
    isBookmark || (annotations !== undefined && isJsonObject(annotations) && "k8s.io/initial-events-end" in annotations)
  );
}

function listMetadata(metadata: JsonObject): JsonObject {
  const { resourceVersion } = metadata;
  return typeof resourceVersion === "string" && resourceVersion !== "" && resourceVersion !== "0"
    ? { ...metadata, resourceVersion: "<rv>" }
    : metadata;
}

function sorted(items: readonly JsonValue[]): readonly JsonValue[] {
  return [...items].sort((a, b) => (canonicalJson(a) < canonicalJson(b) ? -1 : 1));
}

/** A text of JSON in quotes that is an object: what a message says it has found. */
const QUOTED = /"\{(?:[^"\\]|\\.)*\}"/g;

/** Objects that a message quotes have no order either; those of one server stand as Go's types do, those of the other by name. */
function withSortedQuotes(text: string): string {
  return text.replaceAll(QUOTED, (quoted) => {
    try {
      const object = JSON.parse(JSON.parse(quoted) as string) as JsonValue;
      return JSON.stringify(canonicalJson(withSortedManagers(object)));
    } catch {
      // A piece of an object, or something that only looks like one: it is compared as it stands.
      return quoted;
    }
  });
}

function withSortedManagers(value: JsonValue): JsonValue {
  if (!isJsonObject(value) || !isJsonObject(value["metadata"] ?? null)) return value;
  const metadata = value["metadata"] as JsonObject;
  const { managedFields } = metadata;
  return isJsonArray(managedFields)
    ? { ...value, metadata: { ...metadata, managedFields: sorted(managedFields) } }
    : value;
}

/** The errors that are told each time, in an order of our own. */
function certainErrors(list: string): string {
  const lines = list.split("\n").map((line) => line.trim());
  const undeclared = lines.filter((line) => line.endsWith(UNDECLARED));
  return (undeclared.length === 0 ? lines : undeclared).sort().join("; ");
}
