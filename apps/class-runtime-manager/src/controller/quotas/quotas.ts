import type { Violation } from "@oaas/foundation";
import { formatObjectKey, keyOf, parseObjectKey, type KubeObject, type ObjectKey, type Stored } from "@oaas/kube-core";
import { PRIORITY, type InformerView, type Source } from "@oaas/kube-runtime";
import { demandOf, NO_DEMAND, type Demand, type Environment, type Manifest } from "../../templates/index.ts";
import type { ChildCache } from "../children/child-cache.ts";
import { QuotaLedger, type Account, type Claim } from "./quota-ledger.ts";

/** The rendered children of a class, with its environment. */
export interface EnvironmentDemand {
  readonly environment: Environment;
  readonly children: readonly Manifest[];
}

/** Access to the classes of one kind. */
interface WatchedClasses {
  get(key: ObjectKey): Stored<KubeObject> | undefined;
  list(namespace: string): Iterable<Stored<KubeObject>>;
  environmentOf(object: Stored<KubeObject>): Environment | undefined;
  render(object: Stored<KubeObject>): EnvironmentDemand | undefined;
}

/** Keeps the quota ledger in sync with the classes of both kinds, and enqueues the objects that a change affects. */
export class Quotas {
  readonly #children: Pick<ChildCache, "childrenOf">;
  readonly #classKinds = new Map<string, WatchedClasses>();
  readonly #admitted = new Set<(ids: readonly string[]) => void>();
  readonly #changed = new Set<(account: string) => void>();
  readonly #ledger: QuotaLedger;

  constructor(children: Pick<ChildCache, "childrenOf">) {
    this.#children = children;
    this.#ledger = new QuotaLedger(
      {
        classesOf: (account) => this.#classesOf(account),
        usageOf: (id) => this.#usageOf(id),
        renderClaim: (id) => this.#renderClaim(id),
      },
      {
        admitted: (ids) => {
          for (const notify of this.#admitted) notify(ids);
        },
        changed: (account) => {
          for (const notify of this.#changed) notify(account);
        },
      },
    );
  }

  /** Starts to count the classes of a kind. */
  watch<T extends KubeObject>(
    kind: string,
    view: InformerView<T>,
    read: {
      readonly environmentOf: (object: Stored<T>) => Environment | undefined;
      readonly render: (object: Stored<T>) => EnvironmentDemand | undefined;
    },
  ): void {
    this.#classKinds.set(kind, {
      get: (key) => view.get(key),
      list: (namespace) => view.cache.list(namespace),
      environmentOf: (object) => read.environmentOf(object as Stored<T>),
      render: (object) => read.render(object as Stored<T>),
    });
    view.onChange(({ type, object }) => {
      if (type === "deleted") this.release(kind, object);
      const environment = type === "added" ? read.environmentOf(object) : undefined;
      if (environment)
        this.#ledger.registerPending(claimantOf(kind, object), accountOf(keyOf(object).namespace, environment).key);
    });
  }

  /** Admits a class, or returns the quotas it would exceed. */
  admit(kind: string, object: Stored<KubeObject>, { environment, children }: EnvironmentDemand): Violations {
    const claim = { ...claimantOf(kind, object), requested: demandOf(children) };
    return this.#ledger.admit(accountOf(keyOf(object).namespace, environment), claim);
  }

  /** Returns the quotas that a class would exceed, without admitting it. */
  check(kind: string, key: ObjectKey, { environment, children }: EnvironmentDemand): Violations {
    const claim = { id: idOf(kind, key), requested: demandOf(children) };
    return this.#ledger.check(accountOf(key.namespace, environment), claim);
  }

  /** Removes a class that was deleted or has no environment. */
  release(kind: string, object: KubeObject): void {
    this.#ledger.release(idOf(kind, keyOf(object)));
  }

  /** Clears the ledger at the start of a term: the previous leader may have admitted classes. */
  reset(): void {
    this.#ledger.clear();
  }

  /** The total usage of an environment; undefined before the first claim. */
  usage({ namespace, name }: ObjectKey): Demand | undefined {
    return this.#ledger.usage(`${namespace}/${name}`);
  }

  /** Enqueues the waiting classes of a kind that are admitted when quota becomes free. */
  admittedSource(kind: string): Source {
    return (enqueue) => {
      const notify = (ids: readonly string[]): void => {
        for (const id of ids) if (kindIn(id) === kind) enqueue(keyIn(id));
      };
      this.#admitted.add(notify);
      return () => void this.#admitted.delete(notify);
    };
  }

  /** Enqueues the environments whose usage changed. */
  changedSource(): Source {
    return (enqueue) => {
      const notify = (account: string): void => enqueue(parseKey(account), { priority: PRIORITY.low });
      this.#changed.add(notify);
      return () => void this.#changed.delete(notify);
    };
  }

  *#classesOf(account: string): Iterable<Pick<Claim, "id" | "order">> {
    for (const [kind, classes] of this.#classKinds) {
      for (const object of classes.list(parseKey(account).namespace)) {
        const environment = classes.environmentOf(object);
        if (environment && accountOf(keyOf(object).namespace, environment).key === account)
          yield claimantOf(kind, object);
      }
    }
  }

  #usageOf(id: string): Demand {
    const uid = this.#classKinds.get(kindIn(id))?.get(keyIn(id))?.metadata.uid;
    const children = uid === undefined ? [] : this.#children.childrenOf(uid);
    return children.length === 0 ? NO_DEMAND : demandOf(children.map(({ object }) => object));
  }

  #renderClaim(id: string): { readonly account: Account; readonly claim: Claim } | undefined {
    const kind = kindIn(id);
    const classes = this.#classKinds.get(kind);
    const object = classes?.get(keyIn(id));
    const demand = object && classes?.render(object);
    if (!object || !demand) return undefined;
    const claim = { ...claimantOf(kind, object), requested: demandOf(demand.children) };
    return { account: accountOf(keyOf(object).namespace, demand.environment), claim };
  }
}

type Violations = readonly Violation[];

function accountOf(namespace: string, { name, spec }: Environment): Account {
  return { key: formatObjectKey({ namespace, name }), name, quotas: spec.quotas };
}

function claimantOf(kind: string, object: Stored<KubeObject>): Pick<Claim, "id" | "order"> {
  const { creationTimestamp = "", name } = object.metadata;
  return { id: idOf(kind, keyOf(object)), order: `${creationTimestamp} ${name}` };
}

function idOf(kind: string, key: ObjectKey): string {
  return `${kind} ${formatObjectKey(key)}`;
}

function kindIn(id: string): string {
  return id.slice(0, id.indexOf(" "));
}

function keyIn(id: string): ObjectKey {
  return parseKey(id.slice(id.indexOf(" ") + 1));
}

function parseKey(text: string): ObjectKey {
  const key = parseObjectKey(text);
  return key.ok ? key.value : { namespace: "", name: text };
}
