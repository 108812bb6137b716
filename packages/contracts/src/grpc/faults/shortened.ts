const encoder = new TextEncoder();

/** Bytes that a text takes in the `grpc-message` header, where all but plain ASCII is percent-encoded. */
export function percentEncodedSize(text: string): number {
  return encoder.encode(text).reduce((size, byte) => size + (byte < 0x20 || byte > 0x7e || byte === 0x25 ? 3 : 1), 0);
}

/** The text, cut at a character so that it takes at most that many bytes percent-encoded; a cut ends in "...". */
export function shortened(text: string, maxBytes: number): string {
  // A text longer than the limit is never encoded whole: a fault may quote a megabyte of someone's input.
  if (text.length <= maxBytes && percentEncodedSize(text) <= maxBytes) return text;
  const ellipsis = "...";
  let size = ellipsis.length;
  let kept = "";
  for (const character of text) {
    size += percentEncodedSize(character);
    if (size > maxBytes) break;
    kept += character;
  }
  return kept + ellipsis;
}
