/** Annotation of a class with its restart record. */
export const RESTARTS_ANNOTATION = "oaas.io/state-store-restarts";

/** Permission of the package manager to restart one pod. */
export interface Turn {
  readonly id: string;
  readonly nodeId: number;
  /** The pod that may be deleted; its successor needs a turn of its own. */
  readonly podUid: string;
  readonly grantedAtMs: number;
}

/** What must survive a restart of the manager: written before the deletion that it describes. */
export interface RestartRecord {
  readonly turn?: Turn | undefined;
  /** Restarts of a node for missing shards since it last had all of them, by node id. */
  readonly attempts: Readonly<Record<string, number>>;
}

/**
 * Time after which an unused turn expires. The package manager grants the next turn only after a longer time, so that two
 * clusters never restart a member at once.
 */
export const TURN_MS = 120_000;

export const EMPTY_RECORD: RestartRecord = { attempts: {} };

/** Reads the record. Text that is not a record counts as none: without a turn nothing restarts in several clusters. */
export function parseRestartRecord(text: string | undefined): RestartRecord {
  if (text === undefined) return EMPTY_RECORD;
  try {
    const { turn, attempts } = (JSON.parse(text) ?? {}) as { readonly turn?: unknown; readonly attempts?: unknown };
    return { turn: isTurn(turn) ? turn : undefined, attempts: countsOf(attempts) };
  } catch {
    return EMPTY_RECORD;
  }
}

/** The text of a record; undefined for an empty one, which needs no annotation. */
export function formatRestartRecord({ turn, attempts }: RestartRecord): string | undefined {
  if (turn === undefined && Object.keys(attempts).length === 0) return undefined;
  return JSON.stringify({ ...(turn === undefined ? {} : { turn }), attempts });
}

function isTurn(value: unknown): value is Turn {
  if (typeof value !== "object" || value === null) return false;
  const { id, nodeId, podUid, grantedAtMs } = value as Partial<Turn>;
  return (
    typeof id === "string" &&
    typeof nodeId === "number" &&
    typeof podUid === "string" &&
    typeof grantedAtMs === "number"
  );
}

function countsOf(value: unknown): Readonly<Record<string, number>> {
  if (typeof value !== "object" || value === null) return {};
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, number] => Number.isSafeInteger(entry[1]) && entry[1] > 0),
  );
}
