/** A request of the owner. Every request gets a reply with the same id. */
export type WardenRequest =
  | { readonly id: number; readonly type: "start"; readonly start: StartRequest }
  | { readonly id: number; readonly type: "make-folder"; readonly prefix: string }
  | { readonly id: number; readonly type: "forget"; readonly folder: string };

/** A process to start. Output is appended to `logFile`; the environment is exactly `env`. */
export interface StartRequest {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly logFile: string;
  /** The process register to which the process is added. */
  readonly register?: string;
}

/** How a process ended: by code, or by signal. */
export interface Exit {
  readonly code: number | null;
  readonly signal: string | null;
}

/** A message of the warden to its owner. */
export type WardenReply =
  | { readonly type: "done"; readonly id: number; readonly pid?: number; readonly folder?: string }
  | { readonly type: "failed"; readonly id: number; readonly reason: string }
  | { readonly type: "exited"; readonly pid: number; readonly exit: Exit };
