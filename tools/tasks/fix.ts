import { inherit } from "./command.ts";
import { generate } from "./generate.ts";

/** `npm run fix`: formats, applies lint fixes, and writes generated files. */
export async function fix(): Promise<number> {
  await inherit("oxlint", ["--fix", "--quiet"]);
  await inherit("oxfmt", []);
  return generate([]);
}
