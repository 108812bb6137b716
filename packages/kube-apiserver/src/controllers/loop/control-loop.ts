import { err, type Clock, type Result, type Timer, type Timers } from "@oaas/foundation";
import type { JsonObject, Status } from "@oaas/kube-core";
import type { ClusterObjects, ObjectChange, ServerController } from "../cluster-objects.ts";
import { clusterView, type ClusterView } from "../objects/cluster-view.ts";
import { resourceKey } from "../objects/resources.ts";
import type { Controller, WatchedKind, WatchedKinds, WriteError, ControllerContext } from "./controller.ts";
import type { Decision, Step, WriteStep } from "./decision.ts";
import { EventRecorder } from "./event-recorder.ts";

export interface LoopPorts {
  readonly objects: ClusterObjects;
  readonly clock: Clock;
  readonly timers: Timers;
  /** Called for unexpected failures: a decision that threw, a write that keeps failing. No-op by default. */
  readonly onProblem?: (problem: LoopProblem) => void;
}

export interface LoopProblem {
  readonly controller: string;
  readonly key: string;
  readonly error: unknown;
}

export interface LoopOptions {
  /** Rejects a creation before it reaches the server, like an admission plug-in. */
  readonly admit?: (kind: string, object: JsonObject) => Status | undefined;
}

/** Backoff per key: 5 ms doubling to 1,000 s, as in the real controllers. */
const FIRST_RETRY_MS = 5;
const MAX_RETRY_MS = 1_000_000;
/** A conflict is retried at once; this many in a row indicate another problem. */
const MAX_IMMEDIATE_CONFLICTS = 10;

/**
 * Runs controllers over one queue of keys.
 *
 * *Flow*: a change names keys → each waits once → its controller decides on the current state → the steps are written
 * one after the other. A conflict is retried at once, another rejection after a growing delay, and `requeueAfterMs`
 * requeues at that time unless a change comes first.
 *
 * *Guarantees*: one key at a time, in order: the same changes at the same times lead to the same writes. No timer runs
 * unless a decision requested one or a write was rejected. A decision without steps writes nothing.
 *
 * *Assumptions*: reads return the current state, so that a controller sees its own writes and needs no expectations.
 */
export class ControlLoop implements ServerController {
  readonly name: string;
  readonly #controllers: readonly Controller[];
  readonly #ports: LoopPorts;
  readonly #options: LoopOptions;
  readonly #view: ClusterView;
  readonly #recorder: EventRecorder;
  readonly #watches = new Map<string, (readonly [Controller, WatchedKind])[]>();
  readonly #queue = new Map<string, readonly [Controller, string]>();
  readonly #timers = new Map<string, Timer>();
  readonly #failures = new Map<string, number>();
  #unsubscribe: (() => void) | undefined;
  #isRunning = false;

  constructor(name: string, controllers: readonly Controller[], ports: LoopPorts, options: LoopOptions = {}) {
    this.name = name;
    this.#controllers = controllers;
    this.#ports = ports;
    this.#options = options;
    this.#view = clusterView(ports.objects);
    this.#recorder = new EventRecorder(ports.objects, ports.clock);
    for (const controller of controllers) {
      for (const watch of controller.watches) {
        const key = resourceKey(watch.kind);
        this.#watches.set(key, [...(this.#watches.get(key) ?? []), [controller, watch]]);
      }
    }
  }

  start(): void {
    if (this.#unsubscribe) return;
    this.#unsubscribe = this.#ports.objects.onChange((change) => this.#onChange(change));
    this.enqueueAll();
  }

  isIdle(): boolean {
    return !this.#isRunning && this.#queue.size === 0;
  }

  stop(): void {
    this.#unsubscribe?.();
    this.#unsubscribe = undefined;
    for (const timer of this.#timers.values()) timer.cancel();
    this.#timers.clear();
    this.#queue.clear();
    this.#failures.clear();
  }

  /** Enqueues every key: at the start, and when rules outside of objects have changed. */
  enqueueAll(): void {
    for (const controller of this.#controllers) {
      for (const watch of controller.watches) {
        if (watch.isSecondary === true) continue;
        for (const object of this.#ports.objects.list(watch.kind)) this.#enqueueKeys(controller, watch, object);
      }
      if (controller.watchesAll) this.#enqueueAllKinds(controller, controller.watchesAll);
    }
  }

  /** Enqueues one key, for inputs that are not objects, such as a metric. */
  enqueue(controllerName: string, key: string): void {
    const controller = this.#controllers.find(({ name }) => name === controllerName);
    if (controller) this.#enqueue(controller, key);
  }

  #onChange(change: ObjectChange): void {
    const { kind, object, previous } = change;
    for (const [controller, watch] of this.#watches.get(resourceKey(kind)) ?? []) {
      if (object) this.#enqueueKeys(controller, watch, object, change);
      if (previous) this.#enqueueKeys(controller, watch, previous, change);
    }
    for (const controller of this.#controllers) {
      for (const key of controller.watchesAll?.changed(change, this.#view) ?? []) this.#enqueue(controller, key);
    }
  }

  #enqueueAllKinds(controller: Controller, watch: WatchedKinds): void {
    for (const kind of this.#ports.objects.kinds()) {
      for (const object of this.#ports.objects.list(kind)) {
        for (const key of watch.initial(kind, object)) this.#enqueue(controller, key);
      }
    }
  }

  #enqueueKeys(controller: Controller, watch: WatchedKind, object: JsonObject, change?: ObjectChange): void {
    for (const key of watch.keys(object, this.#view, change)) this.#enqueue(controller, key);
  }

  #enqueue(controller: Controller, key: string): void {
    if (!this.#unsubscribe) return;
    const id = queueId(controller, key);
    this.#timers.get(id)?.cancel();
    this.#timers.delete(id);
    this.#queue.set(id, [controller, key]);
    if (!this.#isRunning) void this.#run();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    // Listeners run within a commit: follow-up work runs after it.
    await Promise.resolve();
    for (let entry = this.#next(); entry; entry = this.#next()) await this.#reconcile(...entry);
    this.#isRunning = false;
  }

  #next(): readonly [Controller, string] | undefined {
    for (const [id, entry] of this.#queue) {
      this.#queue.delete(id);
      return entry;
    }
    return undefined;
  }

  async #reconcile(controller: Controller, key: string): Promise<void> {
    const id = queueId(controller, key);
    const decision = this.#decide(controller, key);
    if (decision === undefined) return;
    const error = await this.#perform(controller, decision.steps);
    if (error === undefined) {
      this.#failures.delete(id);
      if (decision.requeueAfterMs !== undefined) this.#requeueAfter(controller, key, decision.requeueAfterMs);
      return;
    }
    await this.#handleWriteError(controller, key, error);
  }

  #decide(controller: Controller, key: string): Decision | undefined {
    try {
      return controller.decide(key, this.#context());
    } catch (error) {
      // No retry until something changes: the same objects would lead to the same error.
      this.#ports.onProblem?.({ controller: controller.name, key, error });
      return undefined;
    }
  }

  async #handleWriteError(controller: Controller, key: string, error: WriteError): Promise<void> {
    const id = queueId(controller, key);
    const failures = (this.#failures.get(id) ?? 0) + 1;
    this.#failures.set(id, failures);
    if (error.status.reason === "Conflict" && failures <= MAX_IMMEDIATE_CONFLICTS) {
      this.#enqueue(controller, key);
      return;
    }
    const then = controller.afterError?.(key, error, this.#context());
    if (then) await this.#perform(controller, then.steps);
    // Nothing can be created in a terminating namespace, so a retry is useless.
    if (isNamespaceTerminating(error.status)) return;
    this.#ports.onProblem?.({ controller: controller.name, key, error: error.status });
    this.#requeueAfter(controller, key, Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(failures - 1, 30)));
  }

  #requeueAfter(controller: Controller, key: string, delayMs: number): void {
    const id = queueId(controller, key);
    // A change during the work has enqueued the key again; that pass decides.
    if (this.#queue.has(id) || !this.#unsubscribe) return;
    this.#timers.get(id)?.cancel();
    this.#timers.set(
      id,
      this.#ports.timers.after(delayMs, () => this.#enqueue(controller, key)),
    );
  }

  #context(): ControllerContext {
    return { view: this.#view, now: this.#ports.clock.now() };
  }

  /** Executes steps in order. Returns the error of the first failed write. */
  async #perform(controller: Controller, steps: readonly Step[]): Promise<WriteError | undefined> {
    for (const step of steps) {
      if (!this.#unsubscribe) return undefined;
      if (step.do === "event") {
        await this.#recorder.record(controller, step.event);
        continue;
      }
      const status = await this.#write(controller, step);
      if (status) return { step, status };
    }
    return undefined;
  }

  async #write(controller: Controller, step: WriteStep): Promise<Status | undefined> {
    const result = await this.#send(controller, step);
    const events = step.do === "create" || step.do === "delete" ? step.events : undefined;
    if (result.ok) {
      if (events?.done) await this.#recorder.record(controller, events.done(result.value));
      return undefined;
    }
    // A deleted object needs neither deletion nor change.
    if (result.error.reason === "NotFound" && step.do !== "create") return undefined;
    if (events?.failed && !isNamespaceTerminating(result.error)) {
      await this.#recorder.record(controller, events.failed(result.error));
    }
    return result.error;
  }

  async #send({ writer }: Controller, step: WriteStep): Promise<Result<JsonObject, Status>> {
    const { objects } = this.#ports;
    switch (step.do) {
      case "create": {
        const error = this.#options.admit?.(resourceKey(step.kind), step.object);
        return error === undefined ? objects.create(step.kind, step.object, writer) : err(error);
      }
      case "update":
        return objects.update(step.kind, step.object, writer);
      case "status":
        return objects.updateStatus(step.kind, step.object, writer);
      case "delete":
        return objects.delete(step.kind, step.name, step.options);
      case "subresource":
        return objects.writeSubresource(step.kind, step.name, step.subresource, step.body, writer);
    }
  }
}

function isNamespaceTerminating({ details }: Status): boolean {
  return details?.causes?.some(({ reason }) => reason === "NamespaceTerminating") ?? false;
}

function queueId(controller: Controller, key: string): string {
  return `${controller.name} ${key}`;
}
