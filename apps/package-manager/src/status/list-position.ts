import { Buffer } from "node:buffer";

/** Where a list of objects continues: in a partition, from a token of its state store. */
export interface ListPosition {
  readonly collection: string;
  readonly partition: number;
  /** Absent at the start of the partition. */
  readonly token?: Uint8Array;
}

/** The page token of a position. */
export function formatListPosition({ collection, partition, token }: ListPosition): string {
  const parts = [collection, partition, ...(token === undefined ? [] : [Buffer.from(token).toString("base64url")])];
  return Buffer.from(JSON.stringify(parts)).toString("base64url");
}

/** The position of a page token; undefined for a text that is none. */
export function parseListPosition(text: string): ListPosition | undefined {
  let parts: unknown;
  try {
    parts = JSON.parse(Buffer.from(text, "base64url").toString());
  } catch {
    return undefined;
  }
  if (!Array.isArray(parts)) return undefined;
  const [collection, partition, token, ...rest] = parts as readonly unknown[];
  if (typeof collection !== "string" || !Number.isSafeInteger(partition) || (partition as number) < 0) return undefined;
  if (rest.length > 0 || (token !== undefined && typeof token !== "string")) return undefined;
  const position = { collection, partition: partition as number };
  return token === undefined ? position : { ...position, token: Buffer.from(token, "base64url") };
}
