import { readFileSync } from "node:fs";
import path from "node:path";

/** A package of the lockfile. */
export interface LockedPackage {
  /** Its folder, such as `node_modules/zod` or `packages/rpc`. */
  readonly folder: string;
  readonly name: string;
  readonly version: string;
  readonly license: string | undefined;
  /** Subresource integrity; undefined for our own packages. */
  readonly integrity: string | undefined;
  readonly hasInstallScript: boolean;
  readonly isOwn: boolean;
}

interface LockfileEntry {
  readonly name?: string;
  readonly version?: string;
  readonly license?: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly link?: boolean;
  readonly hasInstallScript?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/** The text of a package-lock.json of version 3, as far as it is used. */
export interface LockfileJson {
  readonly lockfileVersion: number;
  readonly packages: Readonly<Record<string, LockfileEntry>>;
}

const MODULES = "node_modules/";

/** The packages of a lockfile and their dependencies. */
export class Lockfile {
  readonly #entries: LockfileJson["packages"];

  constructor(json: LockfileJson) {
    if (json.lockfileVersion !== 3) throw new Error(`unsupported lockfileVersion ${json.lockfileVersion}, expected 3`);
    this.#entries = json.packages;
  }

  static read(root: string): Lockfile {
    return new Lockfile(JSON.parse(readFileSync(path.join(root, "package-lock.json"), "utf8")) as LockfileJson);
  }

  /** The package in a folder. */
  get(folder: string): LockedPackage {
    const entry = this.#entries[folder];
    if (entry === undefined) throw new Error(`package-lock.json has no entry "${folder}"`);
    return {
      folder,
      name: entry.name ?? folder.slice(folder.lastIndexOf(MODULES) + MODULES.length),
      version: entry.version ?? "0.0.0",
      license: entry.license,
      integrity: entry.integrity,
      hasInstallScript: entry.hasInstallScript === true,
      isOwn: !folder.includes(MODULES),
    };
  }

  /** All packages of registries. */
  registryPackages(): readonly LockedPackage[] {
    return Object.entries(this.#entries)
      .filter(([folder, { link }]) => folder.includes(MODULES) && link !== true)
      .map(([folder]) => this.get(folder));
  }

  /** The packages that a package needs at run time, as installed. */
  dependenciesOf(folder: string): readonly LockedPackage[] {
    const { dependencies, optionalDependencies, peerDependencies } = this.#entries[folder] ?? {};
    const names = Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies });
    return names.flatMap((name) => this.#resolve(folder, name) ?? []);
  }

  /** A package and everything it needs at run time, by folder. */
  closureOf(folder: string): readonly LockedPackage[] {
    const found = new Map<string, LockedPackage>();
    const visit = (one: LockedPackage): void => {
      if (found.has(one.folder)) return;
      found.set(one.folder, one);
      for (const needed of this.dependenciesOf(one.folder)) visit(needed);
    };
    visit(this.get(folder));
    return [...found.values()].toSorted((a, b) => (a.folder < b.folder ? -1 : 1));
  }

  /** Finds a package as Node does: in the folder, then in each folder above. Optional packages may be missing. */
  #resolve(from: string, name: string): LockedPackage | undefined {
    for (let folder = from; ; folder = parentOf(folder)) {
      const place = folder === "" ? MODULES + name : `${folder}/${MODULES}${name}`;
      const entry = this.#entries[place];
      if (entry?.link === true) return this.get(entry.resolved ?? "");
      if (entry !== undefined) return this.get(place);
      if (folder === "") return undefined;
    }
  }
}

/** The folder that contains the package, without its node_modules. */
function parentOf(folder: string): string {
  const nested = folder.lastIndexOf(`/${MODULES}`);
  return nested === -1 ? "" : folder.slice(0, nested);
}
