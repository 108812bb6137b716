import { canonicalJson, isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "@oaas/kube-core";

const UUID = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g;
const TIME = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)/g;
const ADDRESS = /\b10\.\d{1,3}\.\d{1,3}\.\d{1,3}\b/g;
/** The scheduler chooses among the simulated nodes. */
const NODE = /\bnode-[01]\b/g;
const TOKEN = /\beyJ[\w-]+\.[\w-]+\.[\w-]+/g;
/** `X is invalid: [a, b]`: the server visits members in random order; the causes repeat the errors and are sorted. */
const LISTED = /(is invalid: )\[.*\]$/s;
/** Certificates differ by server; their number and presence do not. */
const CERTIFICATE = /-----BEGIN CERTIFICATE-----\n[\w+/=\n]+-----END CERTIFICATE-----\n?/g;
/**
 * Errors of an apply against its schema. The real server walks maps in random order and stops at an undeclared field,
 * so the other errors it reports vary between equal requests.
 */
const UNREADABLE = /(failed to create typed patch object \([^)]*\): )(?:errors:\n)?(.*)$/s;
const UNDECLARED = "field not declared in schema";
const HASH_LABELS = ["pod-template-hash", "controller-revision-hash"];

/**
 * kubectl logs the end of a watch by its deadline only if one of its goroutines notices first, and calls the watch short
 * if a busy machine opened it just before the deadline.
 */
const CUT_WATCH = /^[EI]\d{4} [\d:.]+ +\d+ reflector\.go:\d+\] .*(?:context deadline exceeded|very short watch).*\n/gm;

/** The length of the suffix of a generated name. */
const MADE_LENGTH = 5;

/**
 * Normalises responses so that two servers can be compared: times are dropped, ids and versions become numbers in order
 * of appearance, so that equal ones stay equal and different ones different. One instance per case and server.
 */
export class Normaliser {
  readonly #uids = new Map<string, string>();
  readonly #versions = new Map<string, string>();
  /** Generated names and hashes; longest first when replaced. */
  readonly #made = new Map<string, string>();

  value(value: JsonValue): JsonValue {
    this.#learn(value);
    return this.#normal(value, "");
  }

  /** Normalises the output of a command. */
  text(text: string): string {
    return (
      this.#string(text)
        .replaceAll(CUT_WATCH, "")
        .replaceAll(/((?:resourceVersion|Resource Version):?\s+"?)\d+/g, "$1<rv>")
        .replaceAll(/\b(\d+d)?(\d+h)?(\d+m)?\d+(\.\d+)?(s|ms)\b( ago)?/g, "<age>")
        .replaceAll(/(CreationTimestamp|Start Time|Started|Finished):(\s+)\w{3}, \d.*$/gm, "$1:$2<time>")
        // Column widths depend on the content.
        .replaceAll(/(\S) {2,}/g, "$1  ")
        .replaceAll(/:3\d{4}\b/g, ":<port>")
        .replaceAll(/https?:\/\/127\.0\.0\.1:\d+/g, "<url>")
    );
  }

  /** Collects generated names before anything is replaced. */
  #learn(value: JsonValue): void {
    if (isJsonArray(value)) {
      for (const item of value) this.#learn(item);
      return;
    }
    if (!isJsonObject(value)) return;
    const { generateName, name, labels } = value;
    if (typeof generateName === "string" && typeof name === "string" && name.startsWith(generateName)) {
      const made = name.slice(generateName.length);
      // Pods of a StatefulSet have such a prefix too, and end with a number.
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
    // In the order of names, since numbers are assigned in order of appearance.
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
      // Objects quoted in a message, also several times quoted.
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

/**
 * The version of a list, a table and a bookmark is the current one of the store, which other writers change as well.
 */
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

/** A quoted JSON object in a message. */
const QUOTED = /"\{(?:[^"\\]|\\.)*\}"/g;

/** Quoted objects have no fixed order: one server uses the order of Go's types, the other that of names. */
function withSortedQuotes(text: string): string {
  return text.replaceAll(QUOTED, (quoted) => {
    try {
      const object = JSON.parse(JSON.parse(quoted) as string) as JsonValue;
      return JSON.stringify(canonicalJson(withSortedManagers(object)));
    } catch {
      // A fragment, or text that only looks like an object: compared as text.
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

/** The deterministic errors, sorted. */
function certainErrors(list: string): string {
  const lines = list.split("\n").map((line) => line.trim());
  const undeclared = lines.filter((line) => line.endsWith(UNDECLARED));
  return (undeclared.length === 0 ? lines : undeclared).sort().join("; ");
}
