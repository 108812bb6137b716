/**
 * Who may import whom, as data. `tests/architecture` enforces it and fails when a rule names something that no longer
 * exists, so that the table cannot rot.
 */
export interface PackageRule {
  /** Imports go down in rank only. */
  readonly rank: number;
  readonly folder: string;
  /** Workspace packages it may import; a sub-path (`contracts/rest`) allows that entry alone. */
  readonly mayImport: readonly string[];
}

export const PACKAGES: Readonly<Record<string, PackageRule>> = {
  foundation: { rank: 0, folder: "packages/foundation", mayImport: [] },
  certificates: { rank: 0, folder: "packages/certificates", mayImport: [] },
  config: { rank: 1, folder: "packages/config", mayImport: ["foundation"] },
  observability: { rank: 1, folder: "packages/observability", mayImport: ["foundation"] },
  "kube-core": { rank: 1, folder: "packages/kube-core", mayImport: ["foundation"] },
  models: { rank: 1, folder: "packages/models", mayImport: ["foundation"] },
  nfr: { rank: 1, folder: "packages/nfr", mayImport: ["foundation"] },
  promql: { rank: 1, folder: "packages/promql", mayImport: ["foundation"] },
  "prometheus-client": { rank: 1, folder: "packages/prometheus-client", mayImport: ["foundation"] },
  "stack-folder": { rank: 1, folder: "packages/stack-folder", mayImport: [] },
  "service-shell": {
    rank: 2,
    folder: "packages/service-shell",
    mayImport: ["config", "foundation", "observability"],
  },
  contracts: { rank: 2, folder: "packages/contracts", mayImport: ["foundation", "models"] },
  storage: { rank: 2, folder: "packages/storage", mayImport: ["foundation"] },
  "kube-runtime": {
    rank: 2,
    folder: "packages/kube-runtime",
    mayImport: ["foundation", "kube-core", "observability"],
  },
  rpc: { rank: 3, folder: "packages/rpc", mayImport: ["contracts", "foundation", "observability"] },
  "real-components": { rank: 3, folder: "packages/real-components", mayImport: ["certificates", "foundation"] },
  "kube-apiserver": {
    rank: 3,
    folder: "packages/kube-apiserver",
    mayImport: ["foundation", "kube-core", "storage"],
  },
  testkit: {
    rank: 4,
    folder: "packages/testkit",
    mayImport: ["foundation", "kube-apiserver", "real-components"],
  },
  "test-store": {
    rank: 4,
    folder: "packages/test-store",
    mayImport: ["contracts", "foundation", "kube-apiserver", "kube-core", "kube-runtime", "observability", "rpc"],
  },
  "class-runtime-manager": {
    rank: 4,
    folder: "apps/class-runtime-manager",
    mayImport: [
      "certificates",
      "config",
      "contracts",
      "foundation",
      "kube-core",
      "kube-runtime",
      "models",
      "nfr",
      "observability",
      "prometheus-client",
      "promql",
      "rpc",
      "service-shell",
    ],
  },
  "package-manager": {
    rank: 4,
    folder: "apps/package-manager",
    mayImport: [
      "certificates",
      "config",
      "contracts",
      "foundation",
      "models",
      "observability",
      "rpc",
      "service-shell",
      "storage",
    ],
  },
  cli: {
    rank: 4,
    folder: "apps/cli",
    mayImport: ["contracts", "foundation", "nfr", "prometheus-client", "rpc", "stack-folder"],
  },
  console: { rank: 4, folder: "apps/console", mayImport: ["contracts", "foundation"] },
  "dev-stack": {
    rank: 5,
    folder: "apps/dev-stack",
    mayImport: [
      "class-runtime-manager",
      "config",
      "contracts",
      "foundation",
      "kube-apiserver",
      "kube-core",
      "kube-runtime",
      "nfr",
      "observability",
      "package-manager",
      "promql",
      "real-components",
      "service-shell",
      "stack-folder",
      "storage",
      "test-store",
    ],
  },
};

/** One row of an app's folder table. */
export interface FolderRule {
  /**
   * Folders or files under the app's `src`. Several in one row count as one folder.
   * A sub-folder belongs to its parent unless it has a row itself.
   */
  readonly folders: readonly string[];
  /** Values in, values out: no Node, no adapters, and only pure folders and `PURE_PACKAGES`, type imports excepted. */
  readonly pure?: true;
}

/** Packages that pure folders may import at run time. */
export const PURE_PACKAGES =
  /^(@oaas\/(foundation|models|kube-core|contracts|nfr|promql)(\/.*)?|@oaas\/observability\/secrets|zod|yaml|@bufbuild\/protobuf)$/;

/**
 * The folders of each app, from the bottom up: a row may import only the rows before it.
 *
 * To add a folder, put its row after everything it imports. Tests and `testing` folders are not checked.
 */
export const APP_FOLDERS: Readonly<Record<string, readonly FolderRule[]>> = {
  "package-manager": [
    { folders: ["version.ts", "ports.ts", "backoff-policies.ts"] },
    { folders: ["supervisor.ts"] },
    { folders: ["clusters/cluster-health.ts"], pure: true },
    { folders: ["planner"], pure: true },
    { folders: ["use-cases.ts"] },
    { folders: ["concurrency.ts", "paging.ts"] },
    { folders: ["idempotency"] },
    { folders: ["history", "masking"], pure: true },
    { folders: ["saga-engine/saga.ts", "saga-engine/stored-fault.ts"], pure: true },
    { folders: ["saga-engine"] },
    { folders: ["records"], pure: true },
    { folders: ["restarts/decide-turn.ts", "restarts/store-members.ts"], pure: true },
    { folders: ["stores"] },
    { folders: ["registry"] },
    { folders: ["clusters"] },
    { folders: ["status"] },
    { folders: ["sagas"] },
    { folders: ["deployments"] },
    { folders: ["apply"] },
    { folders: ["drift"] },
    { folders: ["replanning/decide-replan.ts"], pure: true },
    { folders: ["replanning"] },
    { folders: ["restarts"] },
    { folders: ["events"] },
    { folders: ["overview"] },
    { folders: ["access"] },
    { folders: ["config.ts"] },
    { folders: ["adapters"] },
    { folders: ["platform-parts.ts"] },
    { folders: ["platform.ts"] },
    { folders: ["http"] },
    { folders: ["grpc"] },
    { folders: ["app.ts"] },
    { folders: ["program.ts"] },
    { folders: ["main.ts"] },
  ],
  "class-runtime-manager": [
    { folders: ["setting-kinds.ts", "version.ts", "telemetry.ts"] },
    { folders: ["kube-clients.ts"] },
    { folders: ["config.ts"] },
    { folders: ["lifecycle/observation"], pure: true },
    { folders: ["state-store"], pure: true },
    { folders: ["lifecycle/diagnosis"], pure: true },
    { folders: ["lifecycle/status"], pure: true },
    { folders: ["lifecycle"], pure: true },
    { folders: ["rendering/model"], pure: true },
    { folders: ["rendering/plan"], pure: true },
    { folders: ["rendering/manifests"], pure: true },
    { folders: ["rendering/workloads"], pure: true },
    { folders: ["rendering"], pure: true },
    { folders: ["odgm/plan"], pure: true },
    { folders: ["odgm/manifests"], pure: true },
    { folders: ["odgm"], pure: true },
    { folders: ["templates"], pure: true },
    { folders: ["templates/selection"], pure: true },
    { folders: ["templates/environment"], pure: true },
    { folders: ["templates/builtin"], pure: true },
    { folders: ["templates/user-template"], pure: true },
    { folders: ["templates/index.ts"], pure: true },
    { folders: ["mapping"], pure: true },
    { folders: ["mapping/unit"], pure: true },
    { folders: ["mapping/record"], pure: true },
    { folders: ["mapping/status"], pure: true },
    { folders: ["enforcement"], pure: true },
    { folders: ["explain"], pure: true },
    { folders: ["odgm-health"] },
    { folders: ["availability"] },
    { folders: ["certificates"] },
    { folders: ["topology"] },
    { folders: ["controller/kinds"] },
    { folders: ["controller/children"] },
    { folders: ["controller/cluster", "controller/quotas", "controller/references", "controller/user-templates"] },
    { folders: ["controller/reconcile"] },
    { folders: ["controller"] },
    { folders: ["nfr/components"], pure: true },
    { folders: ["nfr/status"], pure: true },
    { folders: ["nfr/analysis"] },
    { folders: ["nfr/history"] },
    { folders: ["nfr/enforcer"] },
    { folders: ["nfr/measuring.ts"] },
    { folders: ["classes"] },
    { folders: ["grpc/access"] },
    { folders: ["grpc/listing"] },
    { folders: ["grpc/functions"] },
    { folders: ["grpc/cluster", "grpc/deployments"] },
    { folders: ["grpc/inspection"] },
    { folders: ["grpc"] },
    { folders: ["reporting"] },
    { folders: ["adapters"] },
    { folders: ["app.ts"] },
    { folders: ["main.ts"] },
  ],
  cli: [
    { folders: ["exit-code.ts"], pure: true },
    { folders: ["state-store"], pure: true },
    { folders: ["root-help.cjs"] },
    { folders: ["process-environment.ts"] },
    { folders: ["adapters/local-stack.ts"] },
    { folders: ["output"], pure: true },
    { folders: ["documents"] },
    { folders: ["contexts"] },
    { folders: ["session"] },
    { folders: ["command"] },
    { folders: ["commands/local-stack/running-stack.ts"] },
    { folders: ["commands/nfr"] },
    { folders: ["commands/observe"] },
    { folders: ["commands/files"] },
    { folders: ["state-copy"], pure: true },
    { folders: ["commands/state"] },
    { folders: ["commands/resources"] },
    { folders: ["commands/local-stack", "commands/lab"] },
    { folders: ["commands/configuration"] },
    { folders: ["commands/by-kind"] },
    { folders: ["app.ts", "run-cli.ts"] },
    { folders: ["adapters"] },
    { folders: ["main.ts"] },
  ],
  console: [
    { folders: ["api/contract.ts", "api/errors.ts"], pure: true },
    { folders: ["lib"], pure: true },
    { folders: ["messages"], pure: true },
    { folders: ["api"] },
    { folders: ["ui"] },
    { folders: ["pages/shell"] },
    { folders: ["pages/sign-in"] },
    { folders: ["pages/overview"] },
    { folders: ["pages/deployments"] },
    { folders: ["pages/plan"] },
    { folders: ["pages/packages"] },
    { folders: ["pages/runtimes"] },
    { folders: ["pages/clusters"] },
    { folders: ["pages/topology"] },
    { folders: ["pages/activity"] },
    { folders: ["pages/lab"] },
    { folders: ["app.tsx"] },
    { folders: ["main.tsx"] },
  ],
  "dev-stack": [
    { folders: ["config.ts", "last-known.ts"] },
    { folders: ["load"] },
    { folders: ["functions"] },
    { folders: ["clusters"] },
    { folders: ["package-manager"] },
    { folders: ["components.ts", "start-counter.ts", "command-line.ts", "start-failure.ts"] },
    { folders: ["lab"] },
    { folders: ["http"] },
    { folders: ["screen"] },
    { folders: ["adapters"] },
    { folders: ["app.ts"] },
    { folders: ["main.ts"] },
  ],
};

export interface Ban {
  readonly reason: string;
  /** Files it speaks of, as a pattern over paths from the root. At least one must exist. */
  readonly files: RegExp;
  readonly except?: RegExp;
  /** Import specifiers that are refused there. */
  readonly imports: RegExp;
  /** Something that must exist for the ban to make sense: a file or folder from the root. */
  readonly standsFor?: string;
}

/** Tests, tools, the testkit and real components (adapters from end to end) may reach for the real world; product code takes ports. */
const TEST_FILES = /\.test\.ts$|\/test\/|^tests\/|^tools\/|^bench\/|^packages\/(testkit|real-components)\//;

export const BANS: readonly Ban[] = [
  {
    reason: "models run in a browser",
    files: /^packages\/models\/src\//,
    except: TEST_FILES,
    imports: /^node:/,
  },
  {
    reason: "the REST contract runs in a browser",
    files: /^packages\/contracts\/src\/rest\//,
    except: TEST_FILES,
    imports: /^node:/,
  },
  {
    reason: "promql does no input or output",
    files: /^packages\/promql\/src\//,
    except: TEST_FILES,
    imports: /^node:/,
  },
  {
    reason: "kube-core does no input or output",
    files: /^packages\/kube-core\/src\//,
    except: TEST_FILES,
    imports: /^node:/,
  },
  {
    reason:
      "the main entry of foundation runs in a browser; only its real clock and randomness, its hash and its files use Node",
    files: /^packages\/foundation\/src\//,
    except: /\.test\.ts$|\/(real|hash|files)\//,
    imports: /^node:/,
  },
  {
    reason: "clock, timers, randomness and ids are ports; main.ts hands in the real ones",
    files: /^(packages|apps)\/[^/]+\/src\//,
    except: new RegExp(`${TEST_FILES.source}|/main\\.ts$|/adapters/|^packages/service-shell/`),
    imports: /^@oaas\/foundation\/real$/,
    standsFor: "packages/foundation/src/real",
  },
  {
    reason: "time is a port, also by the back door",
    files: /^(packages|apps)\/[^/]+\/src\//,
    // Storage backends are adapters too: one flushes at the end of a turn of the event loop.
    except: new RegExp(`${TEST_FILES.source}|/adapters/|/real/|/backends/`),
    imports: /^node:(timers|perf_hooks)/,
  },
  {
    reason: "the real logger and meter are wired in main.ts; everyone else sees ports",
    files: /^(packages|apps)\/[^/]+\/src\//,
    except: new RegExp(`${TEST_FILES.source}|/main\\.ts$|^packages/(observability|service-shell)/`),
    imports: /^@oaas\/observability\/node$/,
    standsFor: "packages/observability/src/node",
  },
  {
    reason: "the shell of a process is for main.ts alone",
    files: /^(packages|apps)\/[^/]+\/src\//,
    except: new RegExp(`${TEST_FILES.source}|/main\\.ts$`),
    imports: /^@oaas\/service-shell$/,
    standsFor: "packages/service-shell",
  },
  {
    reason: "the testkit is for tests",
    files: /^(packages|apps)\/[^/]+\/src\//,
    except: /\.test\.ts$|^packages\/testkit\//,
    imports: /^@oaas\/testkit/,
    standsFor: "packages/testkit",
  },
  {
    reason: "the test store is for tests and simulated clusters",
    files: /^(packages|apps)\/[^/]+\/src\//,
    except: /\.test\.ts$|^packages\/test-store\/|^apps\/dev-stack\//,
    imports: /^@oaas\/test-store/,
    standsFor: "packages/test-store",
  },
];
