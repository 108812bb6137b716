import { readFileSync } from "node:fs";
import { failedPrecondition, Fault, type Clock } from "@oaas/foundation";

/** Reads credential files that may be replaced at run time: certificates, keys, tokens. */
export interface SecretFiles {
  /** The contents in order. Throws failed-precondition with the name of an unreadable file. */
  read(paths: readonly string[]): readonly string[];
}

/** The files of the local file system. */
export const nodeSecretFiles: SecretFiles = {
  read: (paths) => paths.map((path) => reading(path, () => readFileSync(path, "utf8"))),
};

function reading<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code ?? "read failed";
    throw failedPrecondition(path, `${path} cannot be read: ${why}`, { cause: error });
  }
}

/** How often files are checked for changes. */
const CHECK_INTERVAL_MS = 2_000;

export interface ReloadOptions {
  /** Why the contents are not usable; undefined if they are. */
  readonly check?: (texts: readonly string[]) => Fault | undefined;
  /** Called with the fault when changed files are not usable, and with undefined when they are usable again. */
  readonly onReload?: (fault: Fault | undefined) => void;
}

/**
 * Files that are read again after they change. If changed files are not readable or usable, the last valid contents stay in
 * use, so that a partial rotation does not interrupt the connection.
 */
export class ReloadedFiles {
  readonly #files: SecretFiles;
  readonly #clock: Clock;
  readonly #paths: readonly string[];
  readonly #options: ReloadOptions;
  #texts: readonly string[] | undefined;
  #checkedAtMs = 0;
  #fault: Fault | undefined;

  constructor(files: SecretFiles, clock: Clock, paths: readonly string[], options: ReloadOptions = {}) {
    this.#files = files;
    this.#clock = clock;
    this.#paths = paths;
    this.#options = options;
  }

  /** The latest contents; the same object until they change. */
  texts(): readonly string[] {
    const now = this.#clock.monotonic();
    if (this.#texts !== undefined && now - this.#checkedAtMs < CHECK_INTERVAL_MS) return this.#texts;
    this.#checkedAtMs = now;
    try {
      this.#texts = this.#readChanged();
      this.#report(undefined);
    } catch (thrown) {
      if (this.#texts === undefined) throw thrown;
      this.#report(Fault.from(thrown));
    }
    return this.#texts;
  }

  /** Compares contents: two writes within the resolution of the modification time leave it unchanged. */
  #readChanged(): readonly string[] {
    const known = this.#texts;
    const texts = this.#files.read(this.#paths);
    if (known?.every((text, index) => text === texts[index])) return known;
    const problem = this.#options.check?.(texts);
    if (problem !== undefined) throw problem;
    return texts;
  }

  #report(fault: Fault | undefined): void {
    const isChange = this.#fault?.message !== fault?.message;
    this.#fault = fault;
    if (isChange) this.#options.onReload?.(fault);
  }

  /** Why the last check failed; undefined if it succeeded. */
  get fault(): Fault | undefined {
    return this.#fault;
  }
}
