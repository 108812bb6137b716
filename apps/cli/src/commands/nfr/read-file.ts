import { UsageError } from "../../exit-code.ts";
import type { Session } from "../../session/session.ts";

/** The text of a file; `-` is standard input. */
export async function readText({ environment }: Session, file: string): Promise<string> {
  const text = file === "-" ? await environment.terminal.readStdin() : await environment.files.read(file);
  if (text === undefined)
    throw new UsageError(`${file} does not exist`, "name an existing file, or - for standard input");
  return text;
}
