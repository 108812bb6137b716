import { AsyncLocalStorage } from "node:async_hooks";
import type { ContextStore, WorkContext } from "../work-context.ts";

const NOWHERE: WorkContext = {};

/** Keeps the context along awaits, timers and callbacks. Each store is its own: two services in one process do not mix. */
export function createAsyncContext(): ContextStore {
  const storage = new AsyncLocalStorage<WorkContext>();
  return {
    current: () => storage.getStore() ?? NOWHERE,
    run: (context, work) => storage.run(context, work),
  };
}
