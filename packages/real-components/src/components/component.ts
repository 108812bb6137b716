/** When a component is obtained: "test" by npm test, "full" by npm run test:full as well, "bench" by npm run bench as well. */
export type Tier = "test" | "full" | "bench";

/** Files copied from a Go module's sources beside the binaries. */
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
  /** Folders of the module with sources of our own that go into the binaries. */
  readonly ownSources?: readonly string[];
  readonly moduleFiles?: ModuleFiles;
}

/** Files of Go modules as they are, pinned like the builds; nothing is compiled. */
export interface GoFiles {
  readonly kind: "go-files";
  readonly module: string;
  readonly moduleFiles: readonly ModuleFiles[];
}

/** Debian packages unpacked into the cache; nothing is installed. */
export interface DebianExtract {
  readonly kind: "debian-extract";
  readonly packages: readonly string[];
  /** Command → path in the unpacked tree. Each gets a wrapper that finds the libraries of the same tree. */
  readonly commands: Readonly<Record<string, string>>;
}

/** A command of the machine; installed from its Debian package when we may. */
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
  /** What it offers: file name → path in its cache folder. */
  readonly files: Readonly<Record<File, string>>;
  /**
   * Run once before the component counts as obtained: the file's output must contain the text. Files of Go modules need none: Go checks
   * their sums.
   */
  readonly proof?: { readonly file: NoInfer<File>; readonly args: readonly string[]; readonly says: string };
}
