/**
 * Whether what is there has everything that was rendered, with the same values. The server may have added more: defaults, fields of other
 * managers. Lists are compared position by position, as the server keeps the order of what one manager applied.
 */
export function contains(there: unknown, rendered: unknown): boolean {
  if (Array.isArray(rendered)) {
    return (
      Array.isArray(there) &&
      there.length === rendered.length &&
      rendered.every((item, index) => contains(there[index], item))
    );
  }
  if (typeof rendered === "object" && rendered !== null) {
    if (typeof there !== "object" || there === null || Array.isArray(there)) return false;
    return Object.entries(rendered).every(([member, value]) =>
      contains((there as Record<string, unknown>)[member], value),
    );
  }
  return Object.is(there, rendered);
}
