/** What an owner asks of its warden. Every request is answered by a reply with the same id. */
export type WardenRequest =
  | { readonly id: number; readonly ask: "start"; readonly start: StartRequest }
  | { readonly id: number; readonly ask: "make-folder"; readonly prefix: string }
  | { readonly id: number; readonly ask: "forget"; readonly folder: string };

/** A process to start. Output is appended to `logFile`; the environment is exactly `env`. */
export interface StartRequest {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly logFile: string;
  /** A file in which the process is noted as soon as it is there. */
  readonly register?: string;
}

/** How a process ended: by code, or by signal. */
export interface Exit {
  readonly code: number | null;
  readonly signal: string | null;
}

/** What the warden tells its owner. */
export type WardenReply =
  | { readonly tell: "done"; readonly id: number; readonly pid?: number; readonly folder?: string }
  | { readonly tell: "failed"; readonly id: number; readonly reason: string }
  | { readonly tell: "exited"; readonly pid: number; readonly exit: Exit };
