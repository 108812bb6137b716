import type { Clock, Timers } from "@oaas/foundation";
import type { FetchPort } from "@oaas/contracts/rest";
import type { StoreConnection } from "./state-store/store-client.ts";

/** The process environment of the CLI: terminal, files, variables, network and time. Tests pass their own. */
export interface ProcessEnvironment {
  readonly terminal: Terminal;
  readonly files: Files;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly fetch: FetchPort;
  /** Opens a server-sent event stream and yields its text chunks. */
  readonly stream: (
    url: string,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ) => AsyncIterable<string>;
  /** Connects to a node of a state store. */
  readonly openStore: (address: string) => Promise<StoreConnection>;
  readonly clock: Clock;
  readonly timers: Timers;
  /** Aborted on Ctrl-C. */
  readonly signal: AbortSignal;
}

export interface Terminal {
  out(text: string): void;
  err(text: string): void;
  /** Whether output goes to a terminal: colours, live progress. */
  readonly isInteractive: boolean;
  /** Whether the user can be prompted. */
  readonly canPrompt: boolean;
  readonly columns: number;
  /** Prompts for one line; secrets are not echoed. */
  prompt(question: string, options?: { readonly isSecret?: boolean }): Promise<string>;
  /** All of standard input. */
  readStdin(): Promise<string>;
}

/** A new text of a file. */
export interface FileReplacement {
  write(text: string): void;
  /** Replaces the file atomically, durable before it returns. */
  commit(): void;
  /** Leaves the file as it was. */
  discard(): void;
}

export interface Files {
  /** Undefined if the file does not exist. */
  read(path: string): Promise<string | undefined>;
  /** Replaces the file atomically with mode 0600 and creates missing folders. */
  writePrivate(path: string, text: string): Promise<void>;
  /** Writes several files: all of them or none. Creates missing folders and replaces existing files. */
  writeTogether(texts: ReadonlyMap<string, string>): Promise<void>;
  /** Whether only the owner can read the file; true where the platform has no file modes. */
  isOwnerOnly(path: string): Promise<boolean>;
  /** The lines of a text file of any size, without their ends; throws if the file does not exist. */
  readLines(path: string): AsyncIterable<string>;
  /** Whether the file exists. */
  exists(path: string): Promise<boolean>;
  /** A new text for a file of any size, with mode 0600; creates missing folders. The file changes when it is committed. */
  replace(path: string): FileReplacement;
  /** All files below a folder, sorted; undefined if it is not a folder. */
  list(folder: string): Promise<readonly string[] | undefined>;
}
