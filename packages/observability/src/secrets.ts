/** Replacement for a redacted value. */
export const REDACTED = "***";

const SECRET_WORD =
  /(?:^|_)(?:passphrase|pwd|secret|token|credential|authorization|cookie|dsn|connection_?string|(?:api|private|client|access|signing|encryption)_?key)s?(?:_|$)/;
/** With any letters before it, as in PGPASSWORD. */
const PASSWORD = /(?:password|passwd)s?(?:_|$)/;

/** Whether the value of this key must be redacted. `apiKey`, `api-key` and `API_KEY` are equivalent. */
export function isSecretKey(key: string): boolean {
  const words = key
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replaceAll(/[^A-Za-z0-9]+/g, "_")
    .toLowerCase();
  return SECRET_WORD.test(words) || PASSWORD.test(words);
}

/** Whether a setting is a secret: by its key, or because its value contains credentials, as in `postgres://user:password@host`. */
export function isSecretValue(key: string, value: string): boolean {
  return isSecretKey(key) || redactText(value) !== value;
}

/** A copy of a JSON value that is the member `key` of its parent, with `***` for each secret text in it. */
export function redactMember(key: string, value: unknown): unknown {
  if (typeof value === "string") return isSecretValue(key, value) ? REDACTED : value;
  if (Array.isArray(value)) return value.map((item) => redactMember("", item));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, redactMember(name, member)]));
}

/** Redacts the user info of URLs and the credentials of `Bearer` and `Basic` headers inside a text. */
export function redactText(text: string): string {
  return text
    .replaceAll(/:\/\/[^\s/?#]*@/g, `://${REDACTED}@`)
    .replaceAll(/\b(bearer|basic)\s+[\w.~+/=-]{8,}/gi, `$1 ${REDACTED}`);
}
