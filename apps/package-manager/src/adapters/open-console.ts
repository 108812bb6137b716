import { existsSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { PmConfig } from "../config.ts";
import type { ConsoleFiles } from "./console-files.ts";

/** Opens the built console; undefined when it is disabled or not built. The code is loaded only if there is a console. */
export async function openConsole({ enabled, dir }: PmConfig["console"]): Promise<ConsoleFiles | undefined> {
  const folder = enabled ? (dir ?? ownFolder()) : undefined;
  if (folder === undefined) return undefined;
  const { ConsoleFiles: Files } = await import("./console-files.ts");
  return new Files(folder);
}

/** The console of the sources, or next to the bundled program. */
function ownFolder(): string | undefined {
  const here = fileURLToPath(import.meta.url);
  const folder = path.resolve(path.dirname(here), here.endsWith(".ts") ? "../../../console/dist" : "console");
  return existsSync(path.join(folder, "index.html")) ? folder : undefined;
}
