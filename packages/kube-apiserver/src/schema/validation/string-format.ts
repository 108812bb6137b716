const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;
const HEX = "[0-9a-f]";
const HOST_LABEL = /^[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?$/;
const DAYS = /^(\d{4})-(\d{2})-(\d{2})$/;
const DATE_TIME = /^(\d{4}-\d{2}-\d{2})[Tt ]([01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d+)?(?:[Zz]|[+-]\d{2}:?\d{2})$/;
const GO_DURATION = /^[+-]?(?:0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/;
const LONG_DURATION =
  /^(?:\d+(?:\.\d+)?\s*(?:w|weeks?|d|days?|h|hours?|m|mins?|minutes?|s|secs?|seconds?|ms|millis?|us|ns)\s*)+$/;

/** The string formats that are checked; others are ignored. */
const CHECKS: Readonly<Record<string, (text: string) => boolean>> = {
  byte: (text) => /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text),
  cidr: isCidr,
  date: isDate,
  "date-time": (text) => isDate(DATE_TIME.exec(text)?.[1] ?? ""),
  datetime: (text) => isDate(DATE_TIME.exec(text)?.[1] ?? ""),
  duration: (text) => GO_DURATION.test(text) || LONG_DURATION.test(text),
  email: (text) => /^[^\s@<>]+@[^\s@<>]+$/.test(text),
  hostname: (text) => text.length <= 255 && text.split(".").every((label) => HOST_LABEL.test(label)),
  ipv4: (text) => IPV4.test(text),
  ipv6: isIpv6,
  mac: (text) => /^[0-9A-Fa-f]{2}(?:(?::[0-9A-Fa-f]{2}){5}|(?:-[0-9A-Fa-f]{2}){5})$/.test(text),
  uri: (text) => /^(?:[A-Za-z][A-Za-z0-9+.-]*:|\/)[^\s]*$/.test(text),
  uuid: (text) => new RegExp(`^${HEX}{8}-?${HEX}{4}-?${HEX}{4}-?${HEX}{4}-?${HEX}{12}$`, "i").test(text),
  uuid3: (text) => isUuid(text, "3"),
  uuid4: (text) => isUuid(text, "4"),
  uuid5: (text) => isUuid(text, "5"),
};

/** Whether a string matches a format; unchecked formats always match. */
export function hasFormat(text: string, format: string): boolean {
  return Object.hasOwn(CHECKS, format) ? (CHECKS[format]?.(text) ?? true) : true;
}

function isUuid(text: string, version: string): boolean {
  return new RegExp(`^${HEX}{8}-?${HEX}{4}-?${version}${HEX}{3}-?${HEX}{4}-?${HEX}{12}$`, "i").test(text);
}

function isDate(text: string): boolean {
  const [, year, month, day] = (DAYS.exec(text) ?? []).map(Number);
  if (year === undefined || month === undefined || day === undefined) return false;
  return month >= 1 && month <= 12 && day >= 1 && day <= new Date(Date.UTC(year, month, 0)).getUTCDate();
}

function isIpv6(text: string): boolean {
  const [head = "", tail, ...more] = text.split("::");
  if (more.length > 0) return false;
  const groups = [...groupsOf(head), ...groupsOf(tail ?? "")];
  const isShort = tail !== undefined;
  const width = groups.reduce((sum, group) => sum + (IPV4.test(group) ? 2 : 1), 0);
  const isEveryGroup = groups.every(
    (group, index) => /^[0-9a-fA-F]{1,4}$/.test(group) || (index === groups.length - 1 && IPV4.test(group)),
  );
  return isEveryGroup && (isShort ? width < 8 : width === 8);
}

function groupsOf(part: string): readonly string[] {
  return part === "" ? [] : part.split(":");
}

function isCidr(text: string): boolean {
  const [, address = "", bits = ""] = /^(.+)\/(0|[1-9]\d{0,2})$/.exec(text) ?? [];
  if (bits === "") return false;
  return IPV4.test(address) ? Number(bits) <= 32 : isIpv6(address) && Number(bits) <= 128;
}
