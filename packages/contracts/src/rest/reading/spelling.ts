/** `read-your-write` as enums of the API spell it: `READ_YOUR_WRITE`. */
export function screamingSnakeCase(word: string): string {
  return word.replaceAll("-", "_").toUpperCase();
}

/** `resource-provisioning` as class runtimes and gRPC spell it: `ResourceProvisioning`. */
export function pascalCase(word: string): string {
  return word
    .split("-")
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join("");
}

/** `all-at-once` as newer fields spell it: `all_at_once`. */
export function snakeCase(word: string): string {
  return word.replaceAll("-", "_");
}
