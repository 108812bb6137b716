import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import path from "node:path";

/** A helper process of a benchmark that serves requests and ends with this process. */
export interface Helper extends AsyncDisposable {
  request<T>(content: object): Promise<T>;
}

interface Request {
  readonly id: number;
  readonly content: never;
}

interface Response {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: string;
}

/** Starts one of the programs of this folder. */
export function startHelper(program: string): Helper {
  const child = fork(path.join(import.meta.dirname, program), [], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  return { request: requesterOf(child), [Symbol.asyncDispose]: () => ended(child, "SIGKILL") };
}

/** Sends requests to a process that uses `serveRequests`. */
export function requesterOf(child: ChildProcess): Helper["request"] {
  let last = 0;
  const pending = new Map<number, (response: Response) => void>();
  child.on("message", (response: Response) => {
    pending.get(response.id)?.(response);
    pending.delete(response.id);
  });
  child.once("exit", () => {
    for (const [id, settle] of pending) settle({ id, error: "the process ended" });
  });
  return <T>(content: object) =>
    new Promise<T>((resolve, reject) => {
      const id = (last += 1);
      pending.set(id, ({ result, error }) =>
        error === undefined ? resolve(result as T) : reject(new Error(`${JSON.stringify(content)}: ${error}`)),
      );
      child.send({ id, content }, (error) => error && reject(error));
    });
}

/** Stops a process and waits for its exit. */
export async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, "exit");
  child.kill(signal);
  await exit;
}

/** The helper's side: handles each request, and exits when the parent process ends. */
export function serveRequests(handle: (content: never) => unknown): void {
  process.on("message", ({ id, content }: Request) => {
    void (async () => {
      const response = await (async () => ({ result: await handle(content) }))().catch((thrown: unknown) => ({
        error: String(thrown),
      }));
      process.send?.({ id, ...response });
    })();
  });
  process.on("disconnect", () => process.exit(1));
}
