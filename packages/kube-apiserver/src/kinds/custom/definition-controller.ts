import {
  type CrdNames,
  type CustomResourceDefinition,
  equalJson,
  groupResourceText,
  isJsonObject,
  type JsonObject,
} from "@oaas/kube-core";
import type { ClusterObjects } from "../../controllers/cluster-objects.ts";
import { deleteObject } from "../../verbs/change/delete-object.ts";
import { wholeSeconds } from "../../controllers/objects/time.ts";
import type { VerbContext } from "../../verbs/verb-context.ts";
import { customKind } from "./crd-kinds.ts";
import { asDefinition, CLEANUP_FINALIZER, DEFINITIONS } from "./definition-rules.ts";
import type { KindRegistry } from "../kind-registry.ts";

const WRITER = "kube-apiserver";
const DEFINITIONS_NAME = groupResourceText(DEFINITIONS);

/**
 * Registers custom kinds: accepts free names, serves established definitions, and removes kinds and objects with their
 * definition.
 */
export class DefinitionController {
  readonly #context: VerbContext;
  readonly #kinds: KindRegistry;
  readonly #objects: ClusterObjects;
  readonly #due = new Set<string>();
  #working: Promise<void> | undefined;
  #stopListening: (() => void) | undefined;

  constructor(context: VerbContext, kinds: KindRegistry, objects: ClusterObjects) {
    this.#context = context;
    this.#kinds = kinds;
    this.#objects = objects;
  }

  async start(): Promise<void> {
    if (this.#kinds.named(DEFINITIONS) === undefined) return;
    this.#stopListening = this.#context.store.onCommit(({ kind, change: { after, before } }) => {
      if (kind === DEFINITIONS_NAME) this.#look(nameOf(after.object));
      else if (before !== undefined && this.#waiting.has(kind)) this.#look(kind);
    });
    for (const object of this.#objects.list(DEFINITIONS)) this.#look(nameOf(object));
    await this.#working;
  }

  stop(): void {
    this.#stopListening?.();
  }

  isIdle(): boolean {
    return this.#due.size === 0 && this.#working === undefined;
  }

  /** Definitions that wait for the deletion of their last objects. */
  readonly #waiting = new Set<string>();

  #look(name: string): void {
    this.#due.add(name);
    this.#working ??= this.#work();
  }

  async #work(): Promise<void> {
    // After the observed commit, never inside it.
    await Promise.resolve();
    for (let [name] = this.#due; name !== undefined; [name] = this.#due) {
      this.#due.delete(name);
      await this.#settle(name);
    }
    this.#working = undefined;
  }

  async #settle(name: string): Promise<void> {
    const object = this.#objects.get(DEFINITIONS, { name });
    if (object === undefined) {
      this.#kinds.define(name, undefined);
      this.#waiting.delete(name);
      this.#lookAtOthers(name);
      return;
    }
    const definition = asDefinition(object);
    if (definition.metadata.deletionTimestamp !== undefined) {
      await this.#cleanUp(name, object);
      return;
    }
    const status = statusOf(definition, this.#takenNames(name), wholeSeconds(this.#context.clock.now()));
    if (!equalJson(status, definition.status)) {
      await this.#objects.updateStatus(DEFINITIONS, { ...object, status: status as unknown as JsonObject }, WRITER);
      // Its own status change triggers another pass.
      return;
    }
    if (isTrue(definition, "Established")) this.#kinds.define(name, customKind(definition));
  }

  /** Other definitions may be waiting for the released names. */
  #lookAtOthers(gone: string): void {
    const group = gone.slice(gone.indexOf(".") + 1);
    for (const object of this.#objects.list(DEFINITIONS)) {
      const definition = asDefinition(object);
      if (definition.spec.group === group && !isTrue(definition, "NamesAccepted")) this.#look(nameOf(object));
    }
  }

  async #cleanUp(name: string, object: JsonObject): Promise<void> {
    const metadata = object["metadata"] as { readonly finalizers?: readonly string[] };
    if (metadata.finalizers?.includes(CLEANUP_FINALIZER) !== true) return;
    const kind = this.#kinds.named(resourceOf(asDefinition(object)));
    const version = kind?.versions.find((one) => one.name === kind.storageVersion);
    if (kind !== undefined && version !== undefined) {
      const remaining = [...this.#context.store.objects(name).from("")];
      this.#waiting.add(name);
      for (const { object: one } of remaining) {
        const { namespace = "", name: itsName = "" } = one["metadata"] as {
          readonly namespace?: string;
          readonly name?: string;
        };
        await deleteObject(this.#context, { kind, version, namespace }, itsName, { isDryRun: false });
      }
      // Objects with finalizers remain for a while; the deletion of the last one triggers another pass.
      if (this.#context.store.objects(name).size > 0) return;
    }
    const finalizers = metadata.finalizers.filter((finalizer) => finalizer !== CLEANUP_FINALIZER);
    const present = this.#objects.get(DEFINITIONS, { name });
    if (present === undefined) return;
    const next = { ...present, metadata: { ...(present["metadata"] as JsonObject), finalizers } };
    await this.#objects.update(DEFINITIONS, next, WRITER);
  }

  /** Accepted names of other definitions in the group. */
  #takenNames(name: string): readonly CrdNames[] {
    const definition = this.#objects.get(DEFINITIONS, { name });
    const group = definition === undefined ? "" : asDefinition(definition).spec.group;
    return this.#objects
      .list(DEFINITIONS)
      .filter((object) => nameOf(object) !== name && asDefinition(object).spec.group === group)
      .flatMap((object) => asDefinition(object).status?.acceptedNames ?? []);
  }
}

type DefinitionStatus = NonNullable<CustomResourceDefinition["status"]>;
type Condition = NonNullable<DefinitionStatus["conditions"]>[number];

/** The status of a definition: accepted names, and whether it is served. */
function statusOf(definition: CustomResourceDefinition, taken: readonly CrdNames[], time: string): DefinitionStatus {
  const { names } = definition.spec;
  const before = definition.status?.acceptedNames;
  const used = new Set(
    taken.flatMap(({ plural, singular = "", shortNames = [] }) => [plural, singular, ...shortNames]),
  );
  const usedKinds = new Set(taken.flatMap(({ kind, listKind = "" }) => [kind, listKind]));
  const conflicts = findConflicts(names, used, usedKinds);
  const [conflict] = conflicts.slice(-1);
  const accepted = conflict === undefined ? names : getAcceptedNames(names, before, used, usedKinds);
  const namesAccepted =
    conflict === undefined
      ? { status: "True", reason: "NoConflicts", message: "no conflicts found" }
      : { status: "False", reason: conflict.reason, message: `${JSON.stringify(conflict.name)} is already in use` };
  const isEstablished = conflict === undefined || isTrue(definition, "Established");
  const established = isEstablished
    ? { status: "True", reason: "InitialNamesAccepted", message: "the initial names have been accepted" }
    : { status: "False", reason: "NotAccepted", message: "not all names are accepted" };
  const conditions = definition.status?.conditions ?? [];
  return {
    ...definition.status,
    acceptedNames: accepted,
    conditions: withCondition(
      withCondition(conditions, { type: "NamesAccepted", ...namesAccepted, lastTransitionTime: time } as Condition),
      { type: "Established", ...established, lastTransitionTime: time } as Condition,
    ),
  };
}

function findConflicts(
  { plural, singular = "", shortNames = [], kind, listKind = "" }: CrdNames,
  used: ReadonlySet<string>,
  usedKinds: ReadonlySet<string>,
): readonly { readonly name: string; readonly reason: string }[] {
  return [
    ...(used.has(plural) ? [{ name: plural, reason: "PluralConflict" }] : []),
    ...(singular !== "" && used.has(singular) ? [{ name: singular, reason: "SingularConflict" }] : []),
    ...shortNames.filter((name) => used.has(name)).map((name) => ({ name, reason: "ShortNamesConflict" })),
    ...(usedKinds.has(kind) ? [{ name: kind, reason: "KindConflict" }] : []),
    ...(usedKinds.has(listKind) ? [{ name: listKind, reason: "ListKindConflict" }] : []),
  ];
}

function getAcceptedNames(
  names: CrdNames,
  before: CrdNames | undefined,
  used: ReadonlySet<string>,
  usedKinds: ReadonlySet<string>,
): CrdNames {
  const { plural, singular = "", shortNames = [], kind, listKind = "", categories } = names;
  return {
    plural: used.has(plural) ? (before?.plural ?? "") : plural,
    ...(singular === "" || used.has(singular) ? {} : { singular }),
    ...(shortNames.length === 0 || shortNames.some((name) => used.has(name)) ? {} : { shortNames }),
    kind: usedKinds.has(kind) ? (before?.kind ?? "") : kind,
    ...(listKind === "" || usedKinds.has(listKind) ? {} : { listKind }),
    ...(categories === undefined ? {} : { categories }),
  };
}

function withCondition(conditions: readonly Condition[], next: Condition): readonly Condition[] {
  const before = conditions.find(({ type }) => type === next.type);
  if (before === undefined) return [...conditions, next];
  const time = before.status === next.status ? before.lastTransitionTime : next.lastTransitionTime;
  return conditions.map((one) => (one === before ? { ...next, lastTransitionTime: time } : one));
}

function isTrue({ status }: CustomResourceDefinition, type: string): boolean {
  return status?.conditions?.some((condition) => condition.type === type && condition.status === "True") ?? false;
}

function resourceOf({ spec }: CustomResourceDefinition): { readonly group: string; readonly resource: string } {
  return { group: spec.group, resource: spec.names.plural };
}

function nameOf(object: JsonObject): string {
  const { metadata } = object;
  return isJsonObject(metadata) && typeof metadata["name"] === "string" ? metadata["name"] : "";
}
