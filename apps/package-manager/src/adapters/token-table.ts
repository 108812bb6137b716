import { invalidArgument, type Clock } from "@oaas/foundation";
import type { Logger } from "@oaas/observability";
import { readTokens, type TokenTable } from "../access/token-file.ts";
import { ReloadedFiles, nodeSecretFiles, type SecretFiles } from "./secret-files.ts";

/** The tokens of a file that may change while the process runs. */
export interface FollowedTokens {
  /** The tokens in use. */
  current(): TokenTable;
  /** Why the file is not in use as it is now; undefined when it is. */
  warning(): string | undefined;
}

/**
 * Reads the tokens of a file, and again when it changes. Throws when it is invalid at the start; later an invalid or missing file is
 * logged, and the last valid tokens stay in use.
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
  let invalid: string | undefined;
  let unreadable: string | undefined;
  const readCurrent = (): TokenTable => {
    const [current = ""] = followed.texts();
    if (unreadable !== followed.fault?.message) {
      unreadable = followed.fault?.message;
      if (unreadable !== undefined) logger.error("read token file failed", { file, fault: followed.fault });
    }
    if (table && current === text) return table;
    const isFirst = text === undefined;
    text = current;
    const read = readTokens(current);
    invalid = undefined;
    if (read.ok) return (table = read.value);
    const fault = invalidArgument(`the token file ${file}`, read.error);
    if (isFirst || !table) throw fault;
    invalid = fault.message;
    logger.error("parse token file failed", { file, violations: read.error });
    return table;
  };
  readCurrent();
  return {
    current: readCurrent,
    warning: () => {
      if (readCurrent().size === 0) return `the token file ${file} is empty, so that every token is rejected`;
      const why = unreadable ?? invalid;
      return why && `the token file cannot be used, and its last valid tokens stay in use: ${why}`;
    },
  };
}
