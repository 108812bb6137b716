import { classRuntime } from "@oaas/contracts/crd";
import { failedPrecondition, isFault, type Clock } from "@oaas/foundation";
import { keyOf, type KubeObject, type ObjectKey, type Stored } from "@oaas/kube-core";
import type { KubeClient, ResourceClient } from "@oaas/kube-runtime";
import { FINALIZER } from "../controller/kinds/class-kind.ts";
import { CLASS_RUNTIMES } from "../controller/kinds/resource-types.ts";
import { isUnchanged, type UnitObject } from "../mapping/unit/unit-to-class-runtime.ts";
import { toStoredClass, KubeClassDirectory, type ClassInformer } from "./kube-directory.ts";
import type { ClassDirectory, ClassStore, StoredClass } from "./ports.ts";

/** Field manager of the fields that come from deployment units. */
export const GRPC_FIELD_MANAGER = "oprc-crm-grpc";

/** A resource version that no object has: an apply with it creates the object, or conflicts with an existing one. */
const CREATE_ONLY_VERSION = "1";

type ClassObject = Parameters<ResourceClient<KubeObject>["apply"]>[0];

/**
 * Class runtimes on the API server. `onWritten` is called with every written object.
 *
 * Guarantees: after a write the spec equals the unit; fields of other managers or earlier releases are removed by a
 * second write. The object is created with the finalizer, which saves the controller a write.
 */
export class KubeClassStore implements ClassStore {
  readonly #classes: ResourceClient<KubeObject>;
  readonly #onWritten: (object: StoredClass) => void;

  constructor(client: KubeClient, onWritten: (object: StoredClass) => void) {
    this.#classes = client.resource<KubeObject>(CLASS_RUNTIMES);
    this.#onWritten = onWritten;
  }

  async read(key: ObjectKey, signal: AbortSignal): Promise<StoredClass | undefined> {
    const found = await asManagerFault(this.#classes.find(key, { signal }));
    return found && withDefaults(found);
  }

  async write(
    { manifest, desired }: UnitObject,
    over: StoredClass | undefined,
    signal: AbortSignal,
  ): Promise<StoredClass> {
    const { resourceVersion } = over?.metadata ?? { resourceVersion: CREATE_ONLY_VERSION };
    const options = { fieldManager: GRPC_FIELD_MANAGER, signal };
    const applied = await asManagerFault(
      this.#classes.apply(withVersion(manifest, resourceVersion), { ...options, force: true }),
    );
    const read = withDefaults(applied);
    const stored = isUnchanged(read, desired)
      ? read
      : withDefaults(
          await asManagerFault(this.#classes.update({ ...applied, spec: manifest.spec } as ClassObject, options)),
        );
    this.#onWritten(stored);
    return stored;
  }

  async check({ manifest }: UnitObject, over: StoredClass | undefined, signal: AbortSignal): Promise<void> {
    const options = { fieldManager: GRPC_FIELD_MANAGER, force: true, dryRun: true, signal };
    // The version of a cached object may be older; an update of any version is checked.
    const version = over === undefined ? CREATE_ONLY_VERSION : undefined;
    try {
      await asManagerFault(this.#classes.apply(withVersion(manifest, version), options));
    } catch (thrown) {
      if (!isFault(thrown, "conflict")) throw thrown;
    }
  }

  async remove(object: StoredClass, signal: AbortSignal): Promise<void> {
    await asManagerFault(this.#classes.delete(keyOf(object), { uid: object.metadata.uid, signal }));
  }
}

function withVersion(manifest: UnitObject["manifest"], resourceVersion: string | undefined): ClassObject {
  const version = resourceVersion === undefined ? {} : { resourceVersion };
  return { ...manifest, metadata: { ...manifest.metadata, finalizers: [FINALIZER], ...version } } as ClassObject;
}

/** Converts permission faults of the manager's own account: the caller's credentials are not at fault. */
async function asManagerFault<T>(request: Promise<T>): Promise<T> {
  try {
    return await request;
  } catch (thrown) {
    if (!isFault(thrown, "permission-denied") && !isFault(thrown, "unauthenticated")) throw thrown;
    const message = `the Kubernetes API denies access to the manager's service account: ${thrown.message}`;
    throw failedPrecondition("the manager's permissions", message, { cause: thrown });
  }
}

/**
 * Parses the object, so that defaults are set and it can be compared; an object that does not parse is used unchanged.
 */
function withDefaults(raw: Stored<KubeObject>): StoredClass {
  const parsed = classRuntime.safeParse(raw);
  return parsed.success ? (parsed.data as StoredClass) : toStoredClass(raw);
}

/**
 * Creates the directory and the store of one cluster. The directory shows an object as soon as the store has written
 * it.
 */
export function createKubeClasses(
  client: KubeClient,
  informers: readonly ClassInformer[],
  clock: Clock,
): { readonly directory: ClassDirectory; readonly store: ClassStore } {
  const directory = new KubeClassDirectory(informers, clock);
  return { directory, store: new KubeClassStore(client, (object) => directory.recordWrite(object)) };
}
