/** The command that obtains a component: "test" is npm test, "full" is npm run test:full, "bench" is npm run bench. */
export type Tier = "test" | "full" | "bench";

/** Files copied from the sources of a Go module. */
export interface ModuleFiles {
  readonly module: string;
  readonly files: readonly string[];
}

/** Built from a Go module of `packages/real-components/components`, whose go.mod and go.sum pin everything. */
export interface GoBuild {
  readonly kind: "go-build";
  readonly module: string;
  /** Binary name → package to build. */
  readonly binaries: Readonly<Record<string, string>>;
  /** Folders of the module with our own sources. */
  readonly ownSources?: readonly string[];
  readonly moduleFiles?: ModuleFiles;
}

/** Files of pinned Go modules, without compilation. */
export interface GoFiles {
  readonly kind: "go-files";
  readonly module: string;
  readonly moduleFiles: readonly ModuleFiles[];
}

/** Debian packages unpacked into the cache, without installation. */
export interface DebianExtract {
  readonly kind: "debian-extract";
  readonly packages: readonly string[];
  /** Command → path in the unpacked tree. Each gets a wrapper that uses the libraries of the same tree. */
  readonly commands: Readonly<Record<string, string>>;
}

/** A command of the machine; installed from its Debian package if root. */
export interface HostCommand {
  readonly kind: "host-command";
  readonly command: string;
  readonly debianPackage: string;
}

type Recipe = GoBuild | GoFiles | DebianExtract | HostCommand;

/** A real program that tests or benchmarks use. */
export interface Component<Name extends string = string, File extends string = string> {
  readonly name: Name;
  readonly version: string;
  readonly tier: Tier;
  readonly purpose: string;
  readonly recipe: Recipe;
  /** File name → path in its cache folder. */
  readonly files: Readonly<Record<File, string>>;
  /**
   * Verification after obtaining: the output of the file must contain the text. Not needed for files of Go modules,
   * because Go verifies their checksums.
   */
  readonly proof?: { readonly file: NoInfer<File>; readonly args: readonly string[]; readonly contains: string };
}
