import { pathOf, ROOT_PATH } from "@oaas/foundation";

/**
 * Maps whose keys may contain dots. Server-side apply writes such a key after a dot like any field, so its end is known
 * only from its position: the rest of the path is the key.
 */
const MAP_OF_NAMES =
  /^\$(?:\.(?:data|binaryData|stringData)|.*\.(?:metadata\.(?:labels|annotations)|resources\.(?:limits|requests)|matchLabels|nodeSelector))$/;

/**
 * Converts a field path of the API server to JSONPath from the root of the object:
 *
 * - `spec.containers[0].image` → `$.spec.containers[0].image`
 * - `metadata.annotations[example.com/a]` → `$.metadata.annotations['example.com/a']`
 * - `.spec.ports[port=80,protocol="TCP"].name` → `$.spec.ports[?@.port==80&&@.protocol=="TCP"].name` (apply conflicts)
 *
 * An unreadable path is kept as one name below the root, never dropped.
 */
export function fieldPathToJsonPath(field: string): string {
  if (field === "" || field === "<nil>") return ROOT_PATH;
  const isApplied = field.startsWith(".");
  let path = ROOT_PATH;
  let rest = isApplied ? field : `.${field}`;
  while (rest !== "") {
    if (isApplied && MAP_OF_NAMES.test(path) && rest.startsWith(".")) return pathOf(path, rest.slice(1));
    const step = rest.startsWith("[") ? bracketStep(rest) : nameStep(rest);
    if (step === undefined) return pathOf(ROOT_PATH, field);
    path = step.filter === undefined ? pathOf(path, step.key) : `${path}[?${step.filter}]`;
    rest = rest.slice(step.length);
  }
  return path;
}

interface Step {
  readonly length: number;
  readonly key: string | number;
  readonly filter?: string;
}

function nameStep(rest: string): Step | undefined {
  const name = /^\.([^.[\]]+)/.exec(rest)?.[1];
  return name === undefined ? undefined : { length: name.length + 1, key: name };
}

/** An index, a map key, or the keys that select one list item (`[name="web"]`, `[="x"]` in a set). */
function bracketStep(rest: string): Step | undefined {
  const match = /^\[((?:"(?:[^"\\]|\\.)*"|[^"\]])*)\]/.exec(rest);
  const inside = match?.[1];
  if (match === null || inside === undefined) return undefined;
  const length = match[0].length;
  if (/^\d+$/.test(inside)) return { length, key: Number(inside) };
  const filter = filterOf(inside);
  return filter === undefined ? { length, key: inside } : { length, key: "", filter };
}

const SELECTOR = /([^=,"]*)=("(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?|true|false|null)(?:,|$)/y;

function filterOf(inside: string): string | undefined {
  const terms: string[] = [];
  let at = 0;
  while (at < inside.length) {
    SELECTOR.lastIndex = at;
    const match = SELECTOR.exec(inside);
    if (match === null) return undefined;
    const [whole, name = "", value = ""] = match;
    terms.push(`${name === "" ? "@" : pathOf("@", name)}==${value}`);
    at += whole.length;
  }
  return terms.join("&&");
}
