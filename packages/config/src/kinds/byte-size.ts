import { ok } from "@oaas/foundation";
import { parseSchemaText, invalid, type Kind } from "./kind.ts";

const POWERS = ["", "k", "m", "g", "t"];
const SIZE = /^(\d+(?:\.\d+)?)\s*(?:([kmgt])(i?))?b?$/i;

/** A number of bytes, with or without a unit: "50MiB" and "50Mi" are binary, "50MB" and "50M" are decimal. */
export function byteSizeKind(range: { readonly min?: string; readonly max?: string } = {}): Kind<number, string> {
  const parseBound = (written: string): number => parseSchemaText({ label: "size", parse: parseSize }, written);
  const min = range.min === undefined ? 0 : parseBound(range.min);
  const max = range.max === undefined ? Number.MAX_SAFE_INTEGER : parseBound(range.max);
  return {
    label: "size in bytes",
    echo: true,
    parse: (text) => {
      const size = parseSize(text);
      if (!size.ok) return size;
      if (size.value < min) return invalid(`must be at least ${showByteSize(min)}`);
      return size.value > max ? invalid(`must be at most ${showByteSize(max)}`) : size;
    },
    show: showByteSize,
    fromDefault: parseBound,
  };
}

function parseSize(text: string): ReturnType<Kind<number>["parse"]> {
  const [, amount, unit, binary] = SIZE.exec(text.trim()) ?? [];
  const base = binary === "" || binary === undefined ? 1000 : 1024;
  const bytes = Math.round(Number(amount ?? Number.NaN) * base ** POWERS.indexOf(unit?.toLowerCase() ?? ""));
  return Number.isSafeInteger(bytes)
    ? ok(bytes)
    : invalid("must be a size in bytes", `use for example "52428800" or "50MiB"`);
}

/** Formats bytes in the largest unit that divides them: 52428800 is "50MiB". */
export function showByteSize(bytes: number): string {
  for (const [name, size] of DISPLAY_UNITS) {
    if (bytes >= size && bytes % size === 0) return `${bytes / size}${name}`;
  }
  return String(bytes);
}

const DISPLAY_UNITS = [
  ["TiB", 1024 ** 4],
  ["GiB", 1024 ** 3],
  ["MiB", 1024 ** 2],
  ["KiB", 1024],
] as const;
