/** A deployment that is being written, as the API takes it. Unknown fields of a YAML text are kept. */
export type Draft = Readonly<Record<string, unknown>>;

/** Fields that only the server sets, and the alias of `target_clusters`. */
const SERVER_FIELDS = new Set(["condition", "health", "status", "created_at", "updated_at", "target_envs"]);

/** The desired state in a deployment of the API, without nulls and defaults that would only be noise. */
export function draftOf(deployment: Draft): Draft {
  return compact(Object.fromEntries(Object.entries(deployment).filter(([name]) => !SERVER_FIELDS.has(name))));
}

/** Without nulls, empty texts and empty containers. */
function compact(value: Draft): Draft {
  const entries = Object.entries(value).map(([name, each]) => [name, isObject(each) ? compact(each) : each] as const);
  return Object.fromEntries(entries.filter(([, each]) => each != null && each !== "" && !isEmpty(each)));
}

function isObject(value: unknown): value is Draft {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isEmpty(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}

/** Sets a field at a path; an empty value removes it. */
export function withField(draft: Draft, path: readonly string[], value: unknown): Draft {
  const [name, ...rest] = path;
  if (name === undefined) return draft;
  const child = draft[name];
  const next = rest.length === 0 ? value : withField(isObject(child) ? child : {}, rest, value);
  return compact({ ...draft, [name]: next });
}

export function fieldOf(draft: Draft, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, name) => (isObject(value) ? value[name] : undefined), draft);
}

/** Whether the draft names what a plan needs. */
export function isComplete(draft: Draft): boolean {
  return ["key", "package_name", "class_key"].every((name) => typeof draft[name] === "string" && draft[name] !== "");
}

export interface WhatIf {
  readonly clustersDown: readonly string[];
  readonly availability: number | undefined;
  /** Requests per second, in place of the stated throughput. */
  readonly load: number | undefined;
}

export function isActive({ clustersDown, availability, load }: WhatIf): boolean {
  return clustersDown.length > 0 || availability !== undefined || load !== undefined;
}

/** The body of a plan request. The load is an assumption too, so it is not part of the draft. */
export function planRequest(draft: Draft, { clustersDown, availability, load }: WhatIf, objects: boolean): object {
  const whatIf = {
    ...(clustersDown.length > 0 && { clusters_down: clustersDown }),
    ...(availability !== undefined && { availability }),
  };
  return {
    deployment: load === undefined ? draft : withField(draft, ["nfr_requirements", "min_throughput_rps"], load),
    ...(Object.keys(whatIf).length > 0 && { what_if: whatIf }),
    ...(objects && { objects: true }),
  };
}
