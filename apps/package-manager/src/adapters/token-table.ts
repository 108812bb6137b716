import { invalidArgument, type Clock } from "@oaas/foundation";
import type { Logger } from "@oaas/observability";
import { readTokens, type TokenTable } from "../access/token-file.ts";
import { FollowedFiles, realSecretFiles } from "./crm/secret-files.ts";

/**
 * The tokens of a file, read again when it changes. Throws when it is wrong at the start; a change that makes it wrong is logged,
 * and what was read last stays in force.
 */
export function followTokens(file: string, clock: Clock, logger: Logger): () => TokenTable {
  const followed = new FollowedFiles(realSecretFiles, clock, [file]);
  let text: string | undefined;
  let table: TokenTable | undefined;
  const current = (): TokenTable => {
    const [now = ""] = followed.texts();
    if (table && now === text) return table;
    const isFirst = text === undefined;
    text = now;
    const read = readTokens(now);
    if (read.ok) table = read.value;
    else if (isFirst || !table) throw invalidArgument(`the token file ${file}`, read.error);
    else logger.error("the token file is wrong and was not taken over", { file, violations: read.error });
    return table;
  };
  current();
  return current;
}
