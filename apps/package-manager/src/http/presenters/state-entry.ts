import type { stateEntryInput, stateEntryView } from "@oaas/contracts/rest";
import { findDocumentProblem, parseJson } from "@oaas/foundation";
import type { z } from "zod";
import type { StateEntry } from "../../ports.ts";

type EntryInput = z.output<typeof stateEntryInput>;
type EntryView = z.output<typeof stateEntryView>;

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** An entry with more JSON values is shown as text: together the entries of an object must fit into a request. */
const JSON_LIMITS = { nodes: 1000, depth: 32 };

/** Control characters take up to six characters in JSON; base64 is shorter. */
// eslint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F]/;

/**
 * The most readable form of an entry that `entryFromWire` turns into the same bytes: JSON in compact form, else text, else
 * base64.
 */
export function entryToWire({ data, isCrdt }: StateEntry): EntryView {
  return { ...valueToWire(data), ...(isCrdt ? { type: "crdt-map" as const } : {}) };
}

export function entryFromWire({ json, text, base64, type }: EntryInput): StateEntry {
  return { data: bytesOf({ json, text, base64 }), isCrdt: type === "crdt-map" };
}

function bytesOf({ json, text, base64 }: Pick<EntryInput, "json" | "text" | "base64">): Uint8Array {
  if (base64 !== undefined) return Buffer.from(base64, "base64");
  return Buffer.from(text ?? JSON.stringify(json));
}

function valueToWire(data: Uint8Array): EntryView {
  const text = decode(data);
  if (text === undefined || CONTROL.test(text)) return { base64: Buffer.from(data).toString("base64") };
  const json = parseJson(text, JSON_LIMITS);
  // Large numbers, repeated keys, spaces and the like do not survive parsing.
  return json.ok && JSON.stringify(json.value) === text && isPlain(json.value) ? { json: json.value } : { text };
}

function decode(data: Uint8Array): string | undefined {
  try {
    return UTF8.decode(data);
  } catch {
    return undefined;
  }
}

/** Readers of documents drop the key `__proto__`. */
function isPlain(value: unknown): boolean {
  return findDocumentProblem(value, JSON_LIMITS) === undefined && !JSON.stringify(value).includes('"__proto__"');
}
