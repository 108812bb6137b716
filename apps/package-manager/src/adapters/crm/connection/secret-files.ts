import { readFileSync, statSync } from "node:fs";
import { failedPrecondition, Fault, type Clock } from "@oaas/foundation";

/** Files that may be replaced while we run: certificates, keys, tokens. */
export interface SecretFiles {
  /** What is in them, in order, and a stamp that changes with any of them. Failed-precondition, naming the file, when one cannot be read. */
  read(paths: readonly string[]): { readonly texts: readonly string[]; readonly stamp: string };
  /** The stamp alone. */
  stamp(paths: readonly string[]): string;
}

/** The files of this machine. */
export const nodeSecretFiles: SecretFiles = {
  read: (paths) => ({
    stamp: stampOf(paths),
    texts: paths.map((path) => reading(path, () => readFileSync(path, "utf8"))),
  }),
  stamp: stampOf,
};

function stampOf(paths: readonly string[]): string {
  return paths.map((path) => reading(path, () => statSync(path, { bigint: true }).mtimeNs)).join();
}

function reading<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code ?? "it failed";
    throw failedPrecondition(path, `${path} cannot be read: ${why}`, { cause: error });
  }
}

/** How long a file is taken to be as it was. */
const LOOK_EVERY_MS = 2_000;

/** What is made sure of and told about followed files. */
export interface ReloadOptions {
  /** Why the texts cannot be used; undefined when they can. */
  readonly check?: (texts: readonly string[]) => Fault | undefined;
  /** Told when what was read last stays in use although the files are others, and why; undefined when that is over. */
  readonly onTrouble?: (trouble: Fault | undefined) => void;
}

/**
 * Files read once and again when they changed, looked at from time to time only. When they cannot be read or used any more, what was read last
 * stays in use: half a rotation must not cut the cluster off.
 */
export class ReloadedFiles {
  readonly #files: SecretFiles;
  readonly #clock: Clock;
  readonly #paths: readonly string[];
  readonly #options: ReloadOptions;
  #read: { readonly texts: readonly string[]; readonly stamp: string } | undefined;
  #lookedAtMs = 0;
  #trouble: Fault | undefined;

  constructor(files: SecretFiles, clock: Clock, paths: readonly string[], options: ReloadOptions = {}) {
    this.#files = files;
    this.#clock = clock;
    this.#paths = paths;
    this.#options = options;
  }

  /** The newest texts; the same object while nothing changed. */
  texts(): readonly string[] {
    const now = this.#clock.monotonic();
    if (this.#read !== undefined && now - this.#lookedAtMs < LOOK_EVERY_MS) return this.#read.texts;
    this.#lookedAtMs = now;
    try {
      if (this.#read?.stamp !== this.#files.stamp(this.#paths)) this.#read = this.#readAll();
      this.#tell(undefined);
    } catch (thrown) {
      if (this.#read === undefined) throw thrown;
      this.#tell(Fault.from(thrown));
    }
    return (this.#read as { readonly texts: readonly string[] }).texts;
  }

  #readAll(): ReturnType<SecretFiles["read"]> {
    const read = this.#files.read(this.#paths);
    const problem = this.#options.check?.(read.texts);
    if (problem !== undefined) throw problem;
    return read;
  }

  #tell(trouble: Fault | undefined): void {
    const isNews = this.#trouble?.message !== trouble?.message;
    this.#trouble = trouble;
    if (isNews) this.#options.onTrouble?.(trouble);
  }

  /** Why the newest could not be read when it was last looked for; undefined when it was. */
  get trouble(): Fault | undefined {
    return this.#trouble;
  }
}
