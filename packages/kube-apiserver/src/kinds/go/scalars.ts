import { formatQuantity, type JsonValue, parseQuantity } from "@oaas/kube-core";
import { reportError, reportTypeError, type GoPlace, type GoType } from "./go-type.ts";

const QUANTITY_FORM = "^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$";
const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;
const BOUNDS: Readonly<Record<string, number>> = { int32: 2 ** 31, int64: 2 ** 63 };

/** A string; `name` for a named string type. */
export function text(name = "string"): GoType {
  return scalar(name, "", (value, at) => {
    if (typeof value === "string") return value;
    reportTypeError(value, at, name);
    return "";
  });
}

export const flag: GoType = scalar("bool", false, (value, at) => {
  if (typeof value === "boolean") return value;
  reportTypeError(value, at, "bool");
  return false;
});

/** An integer of 32 or 64 bits. */
export function integer(name: "int32" | "int64"): GoType {
  return scalar(name, 0, (value, at) => {
    const bound = BOUNDS[name] ?? 0;
    if (typeof value === "number" && Number.isInteger(value) && value >= -bound && value < bound) return value;
    reportTypeError(value, at, name, typeof value === "number" ? ` ${value}` : "");
    return 0;
  });
}

export const float: GoType = scalar("float64", 0, (value, at) => {
  if (typeof value === "number") return value;
  reportTypeError(value, at, "float64");
  return 0;
});

/** Bytes in base64 with padding. */
export const bytes: GoType = scalar("[]uint8", "", (value, at) => {
  if (typeof value !== "string") {
    reportTypeError(value, at, "[]uint8");
    return "";
  }
  const invalidIndex = findInvalidBase64(value.replaceAll(/[\r\n]/g, ""));
  if (invalidIndex !== undefined) reportError(at, `illegal base64 data at input byte ${invalidIndex}`);
  return value.replaceAll(/[\r\n]/g, "");
});

/** The position of the first invalid base64 byte, as Go counts it. */
function findInvalidBase64(encoded: string): number | undefined {
  const good = /^(?:[A-Za-z0-9+/]{4})*/.exec(encoded)?.[0].length ?? 0;
  const rest = encoded.slice(good);
  if (rest === "" || /^[A-Za-z0-9+/]{2}==$|^[A-Za-z0-9+/]{3}=$/.test(rest)) return undefined;
  const letters = /^[A-Za-z0-9+/]*/.exec(rest)?.[0].length ?? 0;
  return letters === rest.length ? good : good + letters;
}

/** A canonical quantity. */
export const quantity: GoType = {
  name: "resource.Quantity",
  zero: "0",
  isZero: () => false,
  read(value, at) {
    const parsed = typeof value === "string" || typeof value === "number" ? parseQuantity(value) : undefined;
    if (parsed?.ok === true) return formatQuantity(parsed.value);
    reportError(at, `quantities must match the regular expression '${QUANTITY_FORM}'`);
    return "0";
  },
};

/** A number or a string. */
export const intOrString: GoType = {
  name: "intstr.IntOrString",
  zero: 0,
  isZero: () => false,
  read(value, at) {
    return typeof value === "string" ? value : integer("int32").read(value, at);
  },
};

/** A time in whole seconds, or with `fraction` in microseconds; written in UTC. */
export function time(fraction: boolean): GoType {
  const name = fraction ? "v1.MicroTime" : "v1.Time";
  return {
    name,
    zero: null,
    isZero: (value) => value === null,
    read(value, at) {
      if (typeof value !== "string") {
        reportError(
          at,
          `json: cannot unmarshal ${typeof value === "boolean" ? "bool" : typeof value} into Go value of type string`,
        );
        return null;
      }
      return formatTime(value, fraction, at);
    },
  };
}

function formatTime(value: string, fraction: boolean, at: GoPlace): JsonValue {
  const [, decimals = "", zone] = RFC_3339.exec(value) ?? [];
  const milliseconds = Date.parse(value);
  const isRead = zone !== undefined && !Number.isNaN(milliseconds);
  if (!isRead || (fraction && decimals.length !== 7)) {
    reportError(at, findTimeError(value, fraction));
    return null;
  }
  const seconds = new Date(milliseconds).toISOString().slice(0, 19);
  return fraction ? `${seconds}${decimals}Z` : `${seconds}Z`;
}

/** Go names the missing part of its layout and the remaining input. */
function findTimeError(value: string, fraction: boolean): string {
  const layout = fraction ? "2006-01-02T15:04:05.000000Z07:00" : "2006-01-02T15:04:05Z07:00";
  const seconds = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/.exec(value)?.[0];
  const [rest, part] =
    seconds === undefined ? [value, "2006"] : [value.slice(seconds.length), fraction ? ".000000" : "Z07:00"];
  return `parsing time ${JSON.stringify(value)} as "${layout}": cannot parse ${JSON.stringify(rest)} as "${part}"`;
}

/** Any value, unchanged. */
export const anything: GoType = {
  name: "interface {}",
  zero: null,
  isZero: (value) => value === null,
  read: (value) => value,
};

function scalar(name: string, zero: JsonValue, read: GoType["read"]): GoType {
  return { name, zero, read, isZero: (value) => value === zero };
}
