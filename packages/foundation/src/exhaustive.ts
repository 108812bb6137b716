/** Marks a branch that the types say cannot be reached. */
export function unreachable(value: never): never {
  throw new TypeError(`unexpected value: ${JSON.stringify(value)}`);
}
