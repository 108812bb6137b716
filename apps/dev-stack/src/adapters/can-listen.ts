import { createServer } from "node:net";
import { failedPrecondition, type Fault } from "@oaas/foundation";
import { portHolder } from "./port-holder.ts";

/** Resolves when this address can be listened on now; else throws a fault that says who has it and what to do. */
export async function assertCanListen(host: string, port: number, flag = "--server-port"): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => reject(listenFault(error, host, port, flag)));
    server.listen(port, host, () => server.close(() => resolve()));
  });
}

/** Whether this address can be listened on now. */
export function canListen(host: string, port: number): Promise<boolean> {
  return assertCanListen(host, port).then(
    () => true,
    () => false,
  );
}

/** Why an address could not be listened on, and which flag chooses another port. */
export function listenFault(error: NodeJS.ErrnoException, host: string, port: number, flag: string): Fault {
  const where = `${host}:${port}`;
  const another = `npm start -- ${flag}=8090`;
  const remedies: Record<string, () => string> = {
    EADDRINUSE: () =>
      `${portHolder(port) ?? "something else"} listens on ${where}. Stop it, or choose another port: ${another} (0 takes a free one, --ports=9000 moves them all)`,
    EACCES: () => `this user may not listen on ${where}. Choose a port above 1023: ${another}`,
    EADDRNOTAVAIL: () => `${host} is no address of this machine. Use 127.0.0.1: npm start -- --server-host=127.0.0.1`,
  };
  const message = remedies[error.code ?? ""]?.() ?? `cannot listen on ${where}: ${error.message}`;
  return failedPrecondition(where, message, { cause: error });
}
