import type { Clock, Timers } from "@oaas/foundation";
import type { FetchPort } from "@oaas/contracts/rest";

/** Everything the command line touches outside itself. `main.ts` hands in the real one, tests their own. */
export interface World {
  readonly terminal: Terminal;
  readonly files: Files;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly fetch: FetchPort;
  /** Opens a stream of server-sent events and gives its text as it comes. */
  readonly stream: (
    url: string,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ) => AsyncIterable<string>;
  readonly clock: Clock;
  readonly timers: Timers;
  /** Aborts when the person presses Ctrl-C. */
  readonly signal: AbortSignal;
}

export interface Terminal {
  out(text: string): void;
  err(text: string): void;
  /** Whether a person is looking at the output: colours, live progress. */
  readonly isLive: boolean;
  /** Whether a person can be asked. */
  readonly canAsk: boolean;
  readonly columns: number;
  /** One line typed by the person; without an echo for secrets. */
  ask(question: string, options?: { readonly isSecret?: boolean }): Promise<string>;
  /** All of standard input. */
  input(): Promise<string>;
}

export interface Files {
  /** Undefined when there is no such file. */
  read(path: string): Promise<string | undefined>;
  /** Replaces the file at once, readable by its owner alone; folders are made. */
  writePrivate(path: string, text: string): Promise<void>;
  /** Whether nobody but its owner may read the file; true where that cannot be told. */
  isPrivate(path: string): Promise<boolean>;
  /** Files of a folder and below, in order; undefined when it is no folder. */
  list(folder: string): Promise<readonly string[] | undefined>;
}
