/** What stands in the place of a secret. */
export const MASK = "***";

const USER_INFO = /(:\/\/)([^\s,]*)@/g;
const PLAIN_USER_INFO = /^[^:/?#]*/;
const SECRET_PARAMETER = /([?&;][^=&;\s]*(?:token|passw|secret|key|sig)[^=&;\s]*=)[^&;\s,]*/gi;

/**
 * Hides passwords that stand inside a text: user info of URLs, and query parameters that sound like secrets.
 *
 * Guarantees: whatever stands between `://` and the last `@` of a word is hidden, except a user name before a colon;
 * rather too much than too little, because a password may itself contain `/` or `@`.
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
 * Hides what could be a password in a text that was refused, and so may be malformed in any way: everything before
 * the last `@` except a scheme, and everything after a query parameter that sounds like a secret.
 */
export function maskRefused(text: string): string {
  return text
    .replace(/^([a-z][a-z0-9+.-]*:\/\/)?[^]*@/i, (_whole, scheme: string | undefined) => `${scheme ?? ""}${MASK}@`)
    .replace(/([?&;][^=&;\s]*(?:token|passw|secret|key|sig)[^=&;\s]*=)[^]*/i, `$1${MASK}`);
}
