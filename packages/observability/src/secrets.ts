/** What stands in the place of a secret. */
export const HIDDEN = "***";

const SECRET_WORD =
  /(?:^|_)(?:password|passwd|passphrase|pwd|secret|token|credential|authorization|cookie|api_?key|private_?key|client_?key|access_?key)s?(?:_|$)/;

/** Whether the value under this key is to be hidden; `apiKey`, `api-key` and `API_KEY` are one. */
export function isSecretKey(key: string): boolean {
  const known = seen.get(key);
  if (known !== undefined) return known;
  const words = key
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replaceAll(/[^A-Za-z0-9]+/g, "_")
    .toLowerCase();
  const secret = SECRET_WORD.test(words);
  if (seen.size < MAX_SEEN) seen.set(key, secret);
  return secret;
}

/** Keys repeat from line to line; a bounded memory of pure answers spares two replacements each. */
const seen = new Map<string, boolean>();
const MAX_SEEN = 2000;

/** "basic" and a space before the eight characters that count as a credential; most texts in a log are shorter. */
const SHORTEST_CREDENTIAL = 14;

/** Hides user info of URLs and bearer tokens that stand inside a text. */
export function hideSecrets(text: string): string {
  const withoutUserInfo = text.includes("://") ? text.replaceAll(/:\/\/[^\s/?#]*@/g, `://${HIDDEN}@`) : text;
  if (text.length < SHORTEST_CREDENTIAL || !/\s/.test(text)) return withoutUserInfo;
  return withoutUserInfo.replaceAll(/\b(bearer|basic)\s+[\w.~+/=-]{8,}/gi, `$1 ${HIDDEN}`);
}
