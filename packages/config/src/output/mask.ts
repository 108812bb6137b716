/** Replacement for a secret. */
export const MASK = "***";

const USER_INFO = /(:\/\/)([^\s,]*)@/g;
const PLAIN_USER_INFO = /^[^:/?#]*/;
const SECRET_PARAMETER = /([?&;][^=&;\s]*(?:token|passw|secret|key|sig)[^=&;\s]*=)[^&;\s,]*/gi;

/**
 * Masks passwords in a text: the user info of URLs, and query parameters with secret names.
 *
 * Guarantees: masks everything between `://` and the last `@` of a word, except a user name before a colon, because a
 * password may contain `/` or `@`.
 */
export function maskText(text: string): string {
  return text
    .replaceAll(USER_INFO, (_whole, scheme: string, info: string) => {
      const user = info.includes(":") ? (PLAIN_USER_INFO.exec(info)?.[0] ?? "") : "";
      return `${scheme}${user}${user === "" ? "" : ":"}${MASK}@`;
    })
    .replaceAll(SECRET_PARAMETER, `$1${MASK}`);
}

/**
 * Masks passwords in an invalid text, which may be malformed in any way: everything before the last `@` except a
 * scheme, and everything after a query parameter with a secret name.
 */
export function maskInvalid(text: string): string {
  return text
    .replace(/^([a-z][a-z0-9+.-]*:\/\/)?[^]*@/i, (_whole, scheme: string | undefined) => `${scheme ?? ""}${MASK}@`)
    .replace(/([?&;][^=&;\s]*(?:token|passw|secret|key|sig)[^=&;\s]*=)[^]*/i, `$1${MASK}`);
}
