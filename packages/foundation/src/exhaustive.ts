/** Marks a branch that is unreachable by type. */
export function unreachable(value: never): never {
  throw new TypeError(`unexpected value: ${JSON.stringify(value)}`);
}
