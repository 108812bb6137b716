import { AsyncLocalStorage } from "node:async_hooks";
import type { ContextStore, WorkContext } from "../work-context.ts";

const EMPTY: WorkContext = {};

/** Keeps the context across awaits, timers and callbacks. Stores are independent of each other. */
export function createAsyncContext(): ContextStore {
  const storage = new AsyncLocalStorage<WorkContext>();
  return {
    current: () => storage.getStore() ?? EMPTY,
    run: (context, work) => storage.run(context, work),
  };
}
