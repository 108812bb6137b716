import { orAbort, type Fault } from "@oaas/foundation";
import type { KubeObject, Stored } from "@oaas/kube-core";
import type { WatchEvent, WatchSource } from "../watch/watch-source.ts";

/** A watch source that a test feeds by hand: an initial list, then pushed events. */
export interface FakeSource<T extends KubeObject> extends WatchSource<Stored<T>> {
  /** Adds an object, now or to a list that was not read yet. */
  put(object: T): Stored<T>;
  remove(name: string): void;
  /** Ends the current watch with a fault. */
  expire(fault: Fault): void;
}

/** Objects are keyed by name; versions count up. The list waits for `ready`. */
export function fakeSource<T extends KubeObject>(ready: Promise<void> = Promise.resolve()): FakeSource<T> {
  const objects = new Map<string, Stored<T>>();
  let version = 0;
  let events: WatchEvent<Stored<T>>[] = [];
  const broken: { by: Fault | undefined } = { by: undefined };
  let wake = Promise.withResolvers<void>();
  const emit = (event?: WatchEvent<Stored<T>>): void => {
    if (event) events.push(event);
    wake.resolve();
    wake = Promise.withResolvers<void>();
  };
  return {
    put: (object) => {
      version += 1;
      const name = object.metadata.name ?? "";
      const uid = object.metadata.uid ?? `uid-${name}`;
      const stored: Stored<T> = {
        ...object,
        metadata: { ...object.metadata, name, uid, resourceVersion: String(version) },
      };
      const type = objects.has(name) ? "MODIFIED" : "ADDED";
      objects.set(name, stored);
      emit({ type, object: stored, resourceVersion: String(version) });
      return stored;
    },
    remove: (name) => {
      const object = objects.get(name);
      if (!object || !objects.delete(name)) return;
      version += 1;
      emit({ type: "DELETED", object, resourceVersion: String(version) });
    },
    expire: (fault) => {
      broken.by = fault;
      emit();
    },
    list: async (_query, signal) => {
      await orAbort(ready, signal);
      events = [];
      return { items: [...objects.values()], resourceVersion: String(version) };
    },
    watch: async (_query, signal) => {
      broken.by = undefined;
      return (async function* () {
        for (;;) {
          yield* events.splice(0);
          if (broken.by) throw broken.by;
          await orAbort(wake.promise, signal);
        }
      })();
    },
  };
}
