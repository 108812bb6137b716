import { invalidArgument, type Clock } from "@oaas/foundation";
import type { Logger } from "@oaas/observability";
import { readTokens, type TokenTable } from "../access/token-file.ts";
import { ReloadedFiles, nodeSecretFiles, type SecretFiles } from "./secret-files.ts";

/** The tokens of a file that may change while we run. */
export interface FollowedTokens {
  /** Those in force. */
  current(): TokenTable;
  /** Why these are not the file's newest, in a sentence; undefined when they are. */
  warning(): string | undefined;
}

/**
 * Reads the tokens of a file, and again when it changes. Throws when it is wrong at the start; a change that makes it wrong, or takes it away,
 * is logged, and what was read last stays in force.
 */
export function followTokens(
  file: string,
  clock: Clock,
  logger: Logger,
  files: SecretFiles = nodeSecretFiles,
): FollowedTokens {
  const followed = new ReloadedFiles(files, clock, [file]);
  let text: string | undefined;
  let table: TokenTable | undefined;
  let wrong: string | undefined;
  let gone: string | undefined;
  const current = (): TokenTable => {
    const [now = ""] = followed.texts();
    if (gone !== followed.fault?.message) {
      gone = followed.fault?.message;
      if (gone !== undefined) logger.error("the token file cannot be read any more", { file, fault: followed.fault });
    }
    if (table && now === text) return table;
    const isFirst = text === undefined;
    text = now;
    const read = readTokens(now);
    wrong = undefined;
    if (read.ok) return (table = read.value);
    const fault = invalidArgument(`the token file ${file}`, read.error);
    if (isFirst || !table) throw fault;
    wrong = fault.message;
    logger.error("the token file is wrong and was not taken over", { file, violations: read.error });
    return table;
  };
  current();
  return {
    current,
    warning: () => {
      if (current().size === 0) return `the token file ${file} holds no token, so that nobody is recognised by one`;
      const why = gone ?? wrong;
      return why && `the tokens in force are those from before a change of their file: ${why}`;
    },
  };
}
