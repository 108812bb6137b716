/** The most bytes of a `Warning` header; proxies limit all headers to 8 KiB or more. */
const MAX_BYTES = 4096;
const MAX_TEXT = 300;

/**
 * A `Warning` header with code 299, as Kubernetes sends it (RFC 7234, 5.5). Texts are ASCII and truncated; those that do not
 * fit are counted in the last one.
 */
export function formatWarnings(texts: readonly string[], total: number = texts.length): string {
  const parts: string[] = [];
  let bytes = 0;
  for (const text of texts) {
    const part = warningPart(text);
    if (bytes + part.length > MAX_BYTES) break;
    parts.push(part);
    bytes += part.length + 2;
  }
  if (parts.length < total) parts.push(warningPart(`${total - parts.length} more warnings are not listed`));
  return parts.join(", ");
}

function warningPart(text: string): string {
  const short = text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}...` : text;
  const ascii = short.replaceAll(
    /[^\x20-\x7e]/g,
    (each) => String.raw`\u${each.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return `299 - "${ascii.replaceAll(/[\\"]/g, String.raw`\$&`)}"`;
}

/** The texts of a `Warning` header with code 299. */
export function parseWarnings(header: string): readonly string[] {
  return [...header.matchAll(/299 \S+ "((?:[^"\\]|\\.)*)"/g)].map(([, text = ""]) => text.replaceAll(/\\(.)/g, "$1"));
}
