/** An empty text on the wire means that the field is not set. */
export function nonEmpty(text: string | undefined): string | undefined {
  return text === "" ? undefined : text;
}
