import { Buffer } from "node:buffer";
import type { LogSnapshot, LogSuffix } from "../network/raft-log.ts";
import type { Change, StoredObject } from "../objects/stored-object.ts";

/** Identifies a group of raft members; a later one has a higher number. */
export interface GroupId {
  readonly number: number;
  readonly id: string;
}

/** What copies of one partition tell each other. */
export type RaftMessage =
  | { readonly kind: "empty" }
  | { readonly kind: "founded"; readonly group: GroupId; readonly nodes: readonly number[] }
  | {
      readonly kind: "append";
      readonly group: GroupId;
      readonly term: number;
      readonly commit: number;
      /** What follows the log of the member; the snapshot when that is unknown. */
      readonly content: LogSuffix | LogSnapshot;
    }
  | {
      readonly kind: "appended";
      readonly group: GroupId;
      readonly term: number;
      readonly last: number;
      readonly ok: boolean;
    }
  | {
      readonly kind: "vote";
      readonly group: GroupId;
      readonly term: number;
      readonly last: number;
      readonly lastTerm: number;
    }
  | { readonly kind: "voted"; readonly group: GroupId; readonly term: number }
  | { readonly kind: "write"; readonly request: number; readonly id: string; readonly change: Change }
  | { readonly kind: "written"; readonly request: number; readonly error?: WriteError };

export interface WriteError {
  readonly kind: "internal" | "conflict";
  readonly message: string;
}

export type MergeMessage =
  | { readonly kind: "digest"; readonly versions: ReadonlyMap<string, bigint> }
  | { readonly kind: "want"; readonly ids: readonly string[] }
  | { readonly kind: "object"; readonly id: string; readonly object: StoredObject }
  | { readonly kind: "deleted"; readonly id: string };

/** A message to the copies of a partition in another node. */
export interface Envelope {
  readonly key: string;
  /** Members with another list ignore all messages but `founded`. */
  readonly membership: string;
  readonly message: RaftMessage | MergeMessage;
}

/** Connections to the other nodes. */
export interface PeerLinks {
  /** Ids of the connected nodes. */
  readonly connected: ReadonlySet<number>;
  send(node: number, envelope: Envelope): void;
  onMessage(listener: (from: number, envelope: Envelope) => void): void;
  close(): void;
}

/** JSON with marks for what JSON lacks. */
export function encodeEnvelope(envelope: Envelope): string {
  return JSON.stringify(envelope, (_key, value: unknown) => {
    if (typeof value === "bigint") return { $big: String(value) };
    if (value instanceof Map) return { $map: [...(value as Map<unknown, unknown>)] };
    if (value instanceof Uint8Array) return { $bytes: Buffer.from(value).toString("base64") };
    return value;
  });
}

interface Marked {
  readonly $big?: string;
  readonly $map?: readonly (readonly [unknown, unknown])[];
  readonly $bytes?: string;
}

/** Of a peer of the same version. Throws on other text. */
export function decodeEnvelope(line: string): Envelope {
  return JSON.parse(line, (_key, value: unknown) => {
    if (typeof value !== "object" || value === null) return value;
    const { $big, $map, $bytes } = value as Marked;
    if ($big !== undefined) return BigInt($big);
    if ($map !== undefined) return new Map($map);
    return $bytes === undefined ? value : Uint8Array.from(Buffer.from($bytes, "base64"));
  }) as Envelope;
}
