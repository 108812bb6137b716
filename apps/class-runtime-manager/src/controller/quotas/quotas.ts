import type { Violation } from "@oaas/foundation";
import { formatObjectKey, keyOf, parseObjectKey, type KubeObject, type ObjectKey, type Stored } from "@oaas/kube-core";
import { PRIORITY, type InformerView, type Source } from "@oaas/kube-runtime";
import { demandOf, NO_DEMAND, type Demand, type Environment, type Manifest } from "../../templates/index.ts";
import type { ChildCache } from "../children/child-cache.ts";
import { QuotaLedger, type Account, type Claim } from "./quota-ledger.ts";

/** A class rendered for an environment. */
export interface EnvironmentDemand {
  readonly environment: Environment;
  readonly children: readonly Manifest[];
}

/** One kind of classes, as quotas need to know it. */
interface Followed {
  get(key: ObjectKey): Stored<KubeObject> | undefined;
  list(namespace: string): Iterable<Stored<KubeObject>>;
  environmentOf(object: Stored<KubeObject>): Environment | undefined;
  render(object: Stored<KubeObject>): EnvironmentDemand | undefined;
}

/** Keeps the ledger of quotas in step with the classes of both kinds, and wakes whom it concerns. */
export class Quotas {
  readonly #children: Pick<ChildCache, "childrenOf">;
  readonly #followed = new Map<string, Followed>();
  readonly #admitted = new Set<(ids: readonly string[]) => void>();
  readonly #changed = new Set<(account: string) => void>();
  readonly #ledger: QuotaLedger;

  constructor(children: Pick<ChildCache, "childrenOf">) {
    this.#children = children;
    this.#ledger = new QuotaLedger(
      {
        classesOf: (account) => this.#classesOf(account),
        heldBy: (id) => this.#heldBy(id),
        hear: (id) => this.#hear(id),
      },
      {
        admitted: (ids) => {
          for (const tell of this.#admitted) tell(ids);
        },
        changed: (account) => {
          for (const tell of this.#changed) tell(account);
        },
      },
    );
  }

  /** Counts the classes of a kind from now on. */
  follow<T extends KubeObject>(
    subject: string,
    view: InformerView<T>,
    how: {
      readonly environmentOf: (object: Stored<T>) => Environment | undefined;
      readonly render: (object: Stored<T>) => EnvironmentDemand | undefined;
    },
  ): void {
    this.#followed.set(subject, {
      get: (key) => view.get(key),
      list: (namespace) => view.cache.list(namespace),
      environmentOf: (object) => how.environmentOf(object as Stored<T>),
      render: (object) => how.render(object as Stored<T>),
    });
    view.onChange(({ type, object }) => {
      if (type === "deleted") this.release(subject, object);
      const environment = type === "added" ? how.environmentOf(object) : undefined;
      if (environment)
        this.#ledger.expect(claimantOf(subject, object), accountOf(keyOf(object).namespace, environment).key);
    });
  }

  /** Lets a class in, or says which quotas it would break. */
  settle(subject: string, object: Stored<KubeObject>, { environment, children }: EnvironmentDemand): Violations {
    const claim = { ...claimantOf(subject, object), asked: demandOf(children) };
    return this.#ledger.settle(accountOf(keyOf(object).namespace, environment), claim);
  }

  /** The same for a class that is or may come to be, without noting anything. */
  check(subject: string, key: ObjectKey, { environment, children }: EnvironmentDemand): Violations {
    const claim = { id: idOf(subject, key), asked: demandOf(children) };
    return this.#ledger.check(accountOf(key.namespace, environment), claim);
  }

  /** Forgets a class that is gone, or belongs to no environment. */
  release(subject: string, object: KubeObject): void {
    this.#ledger.release(idOf(subject, keyOf(object)));
  }

  /** Looks at the cluster anew, as whoever begins to lead must: another leader may have let classes in. */
  reset(): void {
    this.#ledger.clear();
  }

  /** What the classes of an environment hold; undefined before any has asked for something. */
  taken({ namespace, name }: ObjectKey): Demand | undefined {
    return this.#ledger.taken(`${namespace}/${name}`);
  }

  /** Wakes the classes of a kind that are let in when room is made. */
  admittedSource(subject: string): Source {
    return (enqueue) => {
      const tell = (ids: readonly string[]): void => {
        for (const id of ids) if (subjectIn(id) === subject) enqueue(keyIn(id));
      };
      this.#admitted.add(tell);
      return () => void this.#admitted.delete(tell);
    };
  }

  /** Wakes the environments whose classes hold more or less than before. */
  changedSource(): Source {
    return (enqueue) => {
      const tell = (account: string): void => enqueue(parsed(account), { priority: PRIORITY.low });
      this.#changed.add(tell);
      return () => void this.#changed.delete(tell);
    };
  }

  *#classesOf(account: string): Iterable<Pick<Claim, "id" | "order">> {
    for (const [subject, followed] of this.#followed) {
      for (const object of followed.list(parsed(account).namespace)) {
        const environment = followed.environmentOf(object);
        if (environment && accountOf(keyOf(object).namespace, environment).key === account)
          yield claimantOf(subject, object);
      }
    }
  }

  #heldBy(id: string): Demand {
    const uid = this.#followed.get(subjectIn(id))?.get(keyIn(id))?.metadata.uid;
    const children = uid === undefined ? [] : this.#children.childrenOf(uid);
    return children.length === 0 ? NO_DEMAND : demandOf(children.map(({ object }) => object));
  }

  #hear(id: string): { readonly account: Account; readonly claim: Claim } | undefined {
    const subject = subjectIn(id);
    const followed = this.#followed.get(subject);
    const object = followed?.get(keyIn(id));
    const wanted = object && followed?.render(object);
    if (!object || !wanted) return undefined;
    const claim = { ...claimantOf(subject, object), asked: demandOf(wanted.children) };
    return { account: accountOf(keyOf(object).namespace, wanted.environment), claim };
  }
}

type Violations = readonly Violation[];

function accountOf(namespace: string, { name, spec }: Environment): Account {
  return { key: formatObjectKey({ namespace, name }), name, quotas: spec.quotas };
}

function claimantOf(subject: string, object: Stored<KubeObject>): Pick<Claim, "id" | "order"> {
  const { creationTimestamp = "", name } = object.metadata;
  return { id: idOf(subject, keyOf(object)), order: `${creationTimestamp} ${name}` };
}

function idOf(subject: string, key: ObjectKey): string {
  return `${subject} ${formatObjectKey(key)}`;
}

function subjectIn(id: string): string {
  return id.slice(0, id.indexOf(" "));
}

function keyIn(id: string): ObjectKey {
  return parsed(id.slice(id.indexOf(" ") + 1));
}

function parsed(text: string): ObjectKey {
  const key = parseObjectKey(text);
  return key.ok ? key.value : { namespace: "", name: text };
}
