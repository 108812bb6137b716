import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import path from "node:path";

/** A helper process of a benchmark that answers requests and ends with this process. */
export interface Helper extends AsyncDisposable {
  ask<T>(question: object): Promise<T>;
}

interface Asked {
  readonly id: number;
  readonly question: never;
}

interface Answered {
  readonly id: number;
  readonly answer?: unknown;
  readonly failed?: string;
}

/** Starts one of the programs of this folder. */
export function startHelper(program: string): Helper {
  const child = fork(path.join(import.meta.dirname, program), [], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  return { ask: asking(child), [Symbol.asyncDispose]: () => ended(child, "SIGKILL") };
}

/** Sends a request to a process that uses `answerQuestions`. */
export function asking(child: ChildProcess): Helper["ask"] {
  let last = 0;
  const waiting = new Map<number, (answered: Answered) => void>();
  child.on("message", (answered: Answered) => {
    waiting.get(answered.id)?.(answered);
    waiting.delete(answered.id);
  });
  child.once("exit", () => {
    for (const [id, settle] of waiting) settle({ id, failed: "the process ended" });
  });
  return <T>(question: object) =>
    new Promise<T>((resolve, reject) => {
      const id = (last += 1);
      waiting.set(id, ({ answer, failed }) =>
        failed === undefined ? resolve(answer as T) : reject(new Error(`${JSON.stringify(question)}: ${failed}`)),
      );
      child.send({ id, question }, (error) => error && reject(error));
    });
}

/** Stops a process and waits for its exit. */
export async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, "exit");
  child.kill(signal);
  await exit;
}

/** The helper's side: answers each request, and exits when the parent process ends. */
export function answerQuestions(answer: (question: never) => unknown): void {
  process.on("message", ({ id, question }: Asked) => {
    void (async () => {
      const answered = await (async () => ({ answer: await answer(question) }))().catch((thrown: unknown) => ({
        failed: String(thrown),
      }));
      process.send?.({ id, ...answered });
    })();
  });
  process.on("disconnect", () => process.exit(1));
}
