/** `read-your-write` as the contract's enums spell it: `READ_YOUR_WRITE`. */
export function screaming(word: string): string {
  let spelled = SCREAMED.get(word);
  if (spelled === undefined) {
    spelled = word.replaceAll("-", "_").toUpperCase();
    if (SCREAMED.size < MAX_WORDS) SCREAMED.set(word, spelled);
  }
  return spelled;
}

/** The words of our enums are few, and written with every document. */
const SCREAMED = new Map<string, string>();
const MAX_WORDS = 256;

/** `resource-provisioning` as class runtimes and gRPC spell it: `ResourceProvisioning`. */
export function pascal(word: string): string {
  return word
    .split("-")
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join("");
}

/** `all-at-once` as fields added by us spell it: `all_at_once`. */
export function snake(word: string): string {
  return word.replaceAll("-", "_");
}
