import { classRuntime } from "@oaas/contracts/crd";
import { failedPrecondition, isFault, type Clock } from "@oaas/foundation";
import { keyOf, type KubeObject, type ObjectKey, type Stored } from "@oaas/kube-core";
import type { KubeClient, ResourceClient } from "@oaas/kube-runtime";
import { FINALIZER } from "../controller/kinds/class-kind.ts";
import { CLASS_RUNTIMES } from "../controller/kinds/resource-types.ts";
import { isUnchanged, type UnitObject } from "../mapping/unit/unit-to-class-runtime.ts";
import { asClass, KubeClassDirectory, type ClassInformer } from "./kube-directory.ts";
import type { ClassDirectory, ClassStore, StoredClass } from "./ports.ts";

/** Owns what units say of class runtimes. */
export const GRPC_FIELD_MANAGER = "oprc-crm-grpc";

/** The version of no object: an apply that expects it makes a new one, and is a conflict when there is one of that name. */
const NOTHING_THERE = "1";

type ClassObject = Parameters<ResourceClient<KubeObject>["apply"]>[0];

/**
 * Class runtimes on the API server. `onWritten` is told of every object that was written.
 *
 * Guarantees: a write leaves exactly what the unit says: what others added to the spec, or an earlier manager left there, is taken out by a
 * second write. An object comes with our finalizer, which saves the controller a write.
 */
export class KubeClassStore implements ClassStore {
  readonly #classes: ResourceClient<KubeObject>;
  readonly #onWritten: (object: StoredClass) => void;

  constructor(client: KubeClient, onWritten: (object: StoredClass) => void) {
    this.#classes = client.resource<KubeObject>(CLASS_RUNTIMES);
    this.#onWritten = onWritten;
  }

  async read(key: ObjectKey, signal: AbortSignal): Promise<StoredClass | undefined> {
    const found = await asOurOwn(this.#classes.find(key, { signal }));
    return found && withDefaults(found);
  }

  async write(
    { manifest, desired }: UnitObject,
    over: StoredClass | undefined,
    signal: AbortSignal,
  ): Promise<StoredClass> {
    const { resourceVersion } = over?.metadata ?? { resourceVersion: NOTHING_THERE };
    const wanted = { ...manifest, metadata: { ...manifest.metadata, finalizers: [FINALIZER], resourceVersion } };
    const options = { fieldManager: GRPC_FIELD_MANAGER, signal };
    const applied = await asOurOwn(this.#classes.apply(wanted as ClassObject, { ...options, force: true }));
    const read = withDefaults(applied);
    const stored = isUnchanged(read, desired)
      ? read
      : withDefaults(await asOurOwn(this.#classes.update({ ...applied, spec: manifest.spec } as ClassObject, options)));
    this.#onWritten(stored);
    return stored;
  }

  async remove(object: StoredClass, signal: AbortSignal): Promise<void> {
    await asOurOwn(this.#classes.delete(keyOf(object), { uid: object.metadata.uid, signal }));
  }
}

/** What our own account may not do is no fault of the caller's identity. */
async function asOurOwn<T>(request: Promise<T>): Promise<T> {
  try {
    return await request;
  } catch (thrown) {
    if (!isFault(thrown, "permission-denied") && !isFault(thrown, "unauthenticated")) throw thrown;
    const message = `the manager's own account is refused by the Kubernetes API: ${thrown.message}`;
    throw failedPrecondition("the manager's permissions", message, { cause: thrown });
  }
}

/** As read by this version, so that it can be compared; an object that this version cannot read is taken as it is. */
function withDefaults(raw: Stored<KubeObject>): StoredClass {
  const parsed = classRuntime.safeParse(raw);
  return parsed.success ? (parsed.data as StoredClass) : asClass(raw);
}

/** Creates the directory and the store of one cluster. The directory shows an object as soon as the store has written it. */
export function kubeClasses(
  client: KubeClient,
  informers: readonly ClassInformer[],
  clock: Clock,
): { readonly directory: ClassDirectory; readonly store: ClassStore } {
  const directory = new KubeClassDirectory(informers, clock);
  return { directory, store: new KubeClassStore(client, (object) => directory.noteWritten(object)) };
}
