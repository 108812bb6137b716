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
  /** Id of the last turn that was declined; it is never used again, however late its request arrives. */
  readonly declined?: string | undefined;
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
    const { turn, declined, attempts } = (JSON.parse(text) ?? {}) as Readonly<Record<string, unknown>>;
    return {
      ...(isTurn(turn) ? { turn } : {}),
      ...(typeof declined === "string" ? { declined } : {}),
      attempts: countsOf(attempts),
    };
  } catch {
    return EMPTY_RECORD;
  }
}

/** The text of a record; undefined for an empty one, which needs no annotation. */
export function formatRestartRecord({ turn, declined, attempts }: RestartRecord): string | undefined {
  if (turn === undefined && declined === undefined && Object.keys(attempts).length === 0) return undefined;
  return JSON.stringify({ turn, declined, attempts });
}

/** Whether a turn may still be used. One from the future was written by a clock that was set back since. */
export function isUsable({ grantedAtMs }: Turn, nowMs: number): boolean {
  return nowMs >= grantedAtMs && nowMs - grantedAtMs < TURN_MS;
}

/** A request for a turn, with what the manager knows about the node. */
export interface TurnRequest {
  readonly id: string;
  readonly nodeId: number;
  /** The running pod of the node; undefined when it has none. */
  readonly podUid: string | undefined;
  /** Whether the cluster has this node. */
  readonly isMember: boolean;
  /** Whether the node waits for a restart. */
  readonly isNeeded: boolean;
  readonly nowMs: number;
}

/**
 * Grants or declines a turn. A repeated request changes nothing, so that a turn does not last longer because it is
 * requested often. A declined turn is never granted again, and the turn of a node without a running pod is not declined: it may be in use.
 */
export function answerTurn(
  record: RestartRecord,
  { id, nodeId, podUid, isMember, isNeeded, nowMs }: TurnRequest,
): { readonly accepted: boolean; readonly record: RestartRecord } {
  const { turn, attempts } = record;
  const isOpen = turn?.id === id;
  if (isOpen && isNeeded && turn.podUid === podUid && isUsable(turn, nowMs)) return { accepted: true, record };
  // The status may be older than the restart that the turn was used for.
  if (isMember && podUid === undefined && record.declined !== id) return { accepted: true, record };
  const isExpired = isOpen && !isUsable(turn, nowMs);
  if (record.declined === id || !isNeeded || podUid === undefined || isExpired) {
    const others = turn === undefined || isOpen ? {} : { turn };
    return { accepted: false, record: { ...others, declined: id, attempts } };
  }
  const { declined } = record;
  return {
    accepted: true,
    record: {
      turn: { id, nodeId, podUid, grantedAtMs: nowMs },
      ...(declined === undefined ? {} : { declined }),
      attempts,
    },
  };
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
