import { groupResourceText } from "@oaas/kube-core";
import type { Kind, KindVersion } from "./kind.ts";

/** A kind in one of its served versions. */
export interface FoundKind {
  readonly kind: Kind;
  readonly version: KindVersion;
}

/** Every served kind: built-in ones always, custom ones while they are established. */
export class KindRegistry {
  readonly #builtIn: readonly Kind[];
  readonly #defined = new Map<string, Kind>();
  readonly #listeners = new Set<() => void>();
  #paths = new Map<string, FoundKind>();
  #byName = new Map<string, Kind>();
  #all: readonly Kind[] = [];
  #edition = 0;

  constructor(builtIn: readonly Kind[]) {
    this.#builtIn = builtIn;
    this.#index();
  }

  /** Incremented on changes, to invalidate derived data. */
  get edition(): number {
    return this.#edition;
  }

  all(): readonly Kind[] {
    return this.#all;
  }

  builtIn(): readonly Kind[] {
    return this.#builtIn;
  }

  find(group: string, version: string, resource: string): FoundKind | undefined {
    return this.#paths.get(`${group}/${version}/${resource}`);
  }

  /** The kind of this name in any version. */
  named(of: { readonly group: string; readonly resource: string }): Kind | undefined {
    return this.#byName.get(groupResourceText(of));
  }

  /** Starts or stops serving a custom kind. */
  define(definition: string, kind: Kind | undefined): void {
    if (kind === undefined && !this.#defined.has(definition)) return;
    if (kind === undefined) this.#defined.delete(definition);
    else this.#defined.set(definition, kind);
    this.#index();
    for (const listener of this.#listeners) listener();
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  #index(): void {
    this.#edition += 1;
    this.#all = [...this.#builtIn, ...this.#defined.values()];
    this.#byName = new Map(this.#all.map((kind) => [groupResourceText(kind), kind]));
    this.#paths = new Map(
      this.#all.flatMap((kind) =>
        kind.versions
          .filter(({ isServed }) => isServed)
          .map((version): [string, FoundKind] => [`${kind.group}/${version.name}/${kind.resource}`, { kind, version }]),
      ),
    );
  }
}
