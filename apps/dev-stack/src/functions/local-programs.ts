/** A program that runs instead of an image. */
export interface LocalProgram {
  /** The image without its tag. */
  readonly image: string;
  /** Path of a Node program that listens on `HOST` and `PORT`. */
  readonly file: string;
}

/** Tags that always fail, in simulated clusters and here alike. */
const FAILING_TAGS: ReadonlySet<string> = new Set(["missing", "crashing"]);

/** The program of an image of any tag or digest; undefined for an image that is simulated. */
export function findProgram(programs: readonly LocalProgram[], image: string): LocalProgram | undefined {
  const [name, tag] = splitTag(image.split("@")[0] ?? "");
  return FAILING_TAGS.has(tag) ? undefined : programs.find((program) => program.image === name);
}

/** A colon before the last slash belongs to the port of the registry. */
function splitTag(image: string): readonly [string, string] {
  const colon = image.lastIndexOf(":");
  return colon <= image.lastIndexOf("/") ? [image, ""] : [image.slice(0, colon), image.slice(colon + 1)];
}
