import { err, ok, pathOf, ROOT_PATH, type Result, type Violation } from "@oaas/foundation";
import { readCollections, type Collection } from "./collection.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** What the store reads from its environment (T11). */
export interface StoreSettings {
  /** Random when absent. */
  readonly nodeId: number | undefined;
  readonly members: readonly number[];
  readonly port: number;
  /** Sessions in the data plane network; session n listens on port 17447 + n (T6). */
  readonly sessions: number;
  readonly zenohPort: number;
  readonly peers: readonly string[];
  /** Whether it finds nodes by multicast (T8). */
  readonly multicast: boolean;
  readonly reflection: boolean;
  readonly events: boolean;
  readonly maxIdLength: number;
  readonly log: string;
  readonly collections: readonly Collection[];
  /** Problems that the store survives: it runs without shards. */
  readonly problems: readonly string[];
  /** Variables with a name of the store that it never reads. */
  readonly ignored: readonly string[];
}

const DEFAULT_ZENOH_PORT = 17_447;
const MAX_U16 = 65_535;

const READ = new Set([
  "ODGM_CAPS_QUERYABLE_ENABLED",
  "ODGM_COLLECTION",
  "ODGM_ENABLE_STRING_ENTRY_KEYS",
  "ODGM_EVENTS_ENABLED",
  "ODGM_EVENT_PIPELINE_V2",
  "ODGM_GRANULAR_PREFETCH_LIMIT",
  "ODGM_HTTP_PORT",
  "ODGM_MAX_SESSIONS",
  "ODGM_MAX_STRING_ID_LEN",
  "ODGM_MAX_TRIGGER_DEPTH",
  "ODGM_MEMBERS",
  "ODGM_NODE_ID",
  "ODGM_REFLECTION_ENABLED",
  "ODGM_TRIGGER_TIMEOUT_MS",
  "OPRC_SERVICE_NAME",
]);

/** Reads the environment as the store does. An error lists the values that end the process. */
export function readStoreEnvironment(env: Environment): Result<StoreSettings, readonly Violation[]> {
  const reader = new Reader(env);
  const nodeId = env["ODGM_NODE_ID"] === undefined ? undefined : reader.integer("ODGM_NODE_ID", 0);
  const members = reader.integers("ODGM_MEMBERS") ?? (nodeId === undefined ? [] : [nodeId]);
  reader.integer("ODGM_TRIGGER_TIMEOUT_MS", 30_000);
  reader.integer("ODGM_MAX_TRIGGER_DEPTH", 10);
  const settings = {
    nodeId,
    members,
    port: reader.integer("ODGM_HTTP_PORT", 8080, MAX_U16),
    sessions: Math.max(1, reader.integer("ODGM_MAX_SESSIONS", 1, MAX_U16)),
    zenohPort: reader.integer("OPRC_ZENOH_PORT", DEFAULT_ZENOH_PORT, MAX_U16),
    peers: (env["OPRC_ZENOH_PEERS"] ?? "").split(",").filter((each) => each !== ""),
    multicast: reader.boolean("OPRC_ZENOH_SCOUTING_MULTICAST_ENABLED", true),
    reflection: reader.boolean("ODGM_REFLECTION_ENABLED", false),
    events: reader.boolean("ODGM_EVENTS_ENABLED", true),
    maxIdLength: reader.integer("ODGM_MAX_STRING_ID_LEN", 160),
    log: env["RUST_LOG"] ?? "info",
    ignored: Object.keys(env).filter(isIgnored).sort(),
  };
  if (reader.violations.length > 0) return err(reader.violations);
  const stated = env["ODGM_COLLECTION"];
  const read = stated === undefined ? [] : readCollections(stated, members);
  return ok({
    ...settings,
    collections: typeof read === "string" ? [] : read,
    problems: typeof read === "string" ? [read] : [],
  });
}

function isIgnored(name: string): boolean {
  if (READ.has(name) || /^OPRC_ZENOH_|^OTEL_/.test(name)) return false;
  return /^(ODGM|OPRC)_/.test(name);
}

/** Reads typed values and collects the violations. */
class Reader {
  readonly violations: Violation[] = [];
  readonly #env: Environment;

  constructor(env: Environment) {
    this.#env = env;
  }

  integer(name: string, byDefault: number, max = Number.MAX_VALUE): number {
    const text = this.#env[name];
    return text === undefined ? byDefault : this.#number(name, text, max);
  }

  integers(name: string): readonly number[] | undefined {
    return this.#env[name]?.split(",").map((text) => this.#number(name, text, Number.MAX_VALUE));
  }

  boolean(name: string, byDefault: boolean): boolean {
    const text = this.#env[name];
    if (text === undefined || text === "true" || text === "false")
      return text === undefined ? byDefault : text === "true";
    this.#reject(name, `"${text}" is not true or false`);
    return byDefault;
  }

  #number(name: string, text: string, max: number): number {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value > max) this.#reject(name, `"${text}" is not a whole number`);
    return value;
  }

  #reject(name: string, message: string): void {
    this.violations.push({ path: pathOf(ROOT_PATH, name), message });
  }
}
