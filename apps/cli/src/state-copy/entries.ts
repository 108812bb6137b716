import type { Entries, EntryForm } from "./stored-state.ts";

/** A text that is equal for objects with the same bytes, in whatever form their entries are written. */
export function fingerprint(entries: Entries): string {
  const keys = Object.keys(entries).sort();
  return JSON.stringify(
    keys.map((key) => {
      const entry = entries[key] ?? {};
      return [key, entry.type === "crdt-map" ? 1 : 0, base64Of(entry)];
    }),
  );
}

function base64Of({ base64, text, json }: EntryForm): string {
  if (base64 !== undefined) return base64;
  return toBase64(new TextEncoder().encode(text ?? JSON.stringify(json)));
}

/** Bytes that are joined at once; more would be too many arguments. */
const CHUNK = 32_768;

function toBase64(bytes: Uint8Array): string {
  let binary = "";
  for (let at = 0; at < bytes.length; at += CHUNK) binary += String.fromCharCode(...bytes.subarray(at, at + CHUNK));
  return btoa(binary);
}
