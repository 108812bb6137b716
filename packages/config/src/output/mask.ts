/** Replacement for a secret. */
export const MASK = "***";

const WORD = /[^\s,]+/g;
const PLAIN_USER_INFO = /^[^:/?#]*/;
const PARAMETER = /[?&;][^?&;=\s]*=/g;
const PARAMETER_VALUE = /[^&;\s,]*/y;
const SECRET_NAME = /token|passw|secret|key|sig/i;

/**
 * Masks passwords in a text: the user info of URLs, and query parameters with secret names.
 *
 * Guarantees: masks everything between `://` and the last `@` of a word, except a user name before a colon, because a
 * password may contain `/` or `@`.
 */
export function maskText(text: string): string {
  return maskParameters(text.replaceAll(WORD, maskUserInfo));
}

function maskUserInfo(word: string): string {
  const start = word.indexOf("://") + "://".length;
  const end = word.lastIndexOf("@");
  if (start < "://".length || end < start) return word;
  const info = word.slice(start, end);
  const user = info.includes(":") ? (PLAIN_USER_INFO.exec(info)?.[0] ?? "") : "";
  return `${word.slice(0, start)}${user}${user === "" ? "" : ":"}${MASK}${word.slice(end)}`;
}

function maskParameters(text: string): string {
  let masked = "";
  let at = 0;
  for (const { index, 0: name } of text.matchAll(PARAMETER)) {
    if (index < at || !SECRET_NAME.test(name)) continue;
    PARAMETER_VALUE.lastIndex = index + name.length;
    masked += text.slice(at, PARAMETER_VALUE.lastIndex) + MASK;
    at = PARAMETER_VALUE.lastIndex + (PARAMETER_VALUE.exec(text)?.[0].length ?? 0);
  }
  return masked + text.slice(at);
}

/**
 * Masks passwords in an invalid text, which may be malformed in any way: everything before the last `@` except a
 * scheme, and everything after a query parameter with a secret name.
 */
export function maskInvalid(text: string): string {
  const masked = text.replace(
    /^([a-z][a-z0-9+.-]*:\/\/)?[^]*@/i,
    (_whole, scheme: string | undefined) => `${scheme ?? ""}${MASK}@`,
  );
  for (const { index, 0: name } of masked.matchAll(PARAMETER)) {
    if (SECRET_NAME.test(name)) return masked.slice(0, index + name.length) + MASK;
  }
  return masked;
}
