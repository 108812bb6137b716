/** Replacement for a redacted value. */
export const REDACTED = "***";

const SECRET_WORD =
  /(?:^|_)(?:password|passwd|passphrase|pwd|secret|token|credential|authorization|cookie|api_?key|private_?key|client_?key|access_?key)s?(?:_|$)/;

/** Whether the value of this key must be redacted. `apiKey`, `api-key` and `API_KEY` are equivalent. */
export function isSecretKey(key: string): boolean {
  const words = key
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replaceAll(/[^A-Za-z0-9]+/g, "_")
    .toLowerCase();
  return SECRET_WORD.test(words);
}

/** Redacts the user info of URLs and the credentials of `Bearer` and `Basic` headers inside a text. */
export function redactText(text: string): string {
  return text
    .replaceAll(/:\/\/[^\s/?#]*@/g, `://${REDACTED}@`)
    .replaceAll(/\b(bearer|basic)\s+[\w.~+/=-]{8,}/gi, `$1 ${REDACTED}`);
}
