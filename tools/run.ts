import { STACK_NODE_FLAGS } from "@oaas/stack-folder";
import { passThrough } from "./tasks/pass-through.ts";

/** A task returns its exit code. */
type Task = (args: readonly string[]) => Promise<number>;

interface Offered {
  readonly help: string;
  /** Imports the task: together they load compilers and bundlers, which would delay every start of the local stack. */
  readonly load: () => Promise<Task>;
}

/** All `npm run` commands of the root. */
const TASKS: Record<string, Offered> = {
  start: {
    help: "start the local stack",
    load: async () =>
      (await import("./tasks/console.ts")).withConsole(passThrough("apps/dev-stack/src/main.ts", STACK_NODE_FLAGS)),
  },
  crm: {
    help: "run the class runtime manager against a cluster (KUBECONFIG, or --oprc-crm-kube-context=…)",
    load: async () => passThrough("apps/class-runtime-manager/src/main.ts"),
  },
  cluster: {
    help: "start one embedded Kubernetes cluster on loopback, for kubectl (--help lists its flags)",
    load: async () => passThrough("packages/kube-apiserver/src/main.ts"),
  },
  pm: {
    help: "run the package manager (set clusters with CRM_CLUSTERS_JSON or CRM_DEFAULT_URL; --help lists all settings)",
    load: async () => (await import("./tasks/console.ts")).withConsole(passThrough("apps/package-manager/src/main.ts")),
  },
  test: {
    help: "run all checks and the suites with Kubernetes, etcd, Prometheus and Chromium",
    load: async () => (await import("./tasks/test.ts")).runTests("test"),
  },
  "test:full": {
    help: "run npm test and the suites with heavy components",
    load: async () => (await import("./tasks/test.ts")).runTests("full"),
  },
  "test:api-fuzz": {
    help: "run Schemathesis against the OpenAPI document of the package manager",
    load: async () => (await import("./tasks/api-fuzz.ts")).apiFuzz,
  },
  sweep: {
    help: "run fuzzing, kill points and soak tests at full size",
    load: async () => (await import("./tasks/test.ts")).runTests("sweep"),
  },
  conformance: {
    help: "compare the embedded API server with the real one (--record, --subject, --sequences, --recorded)",
    load: async () => passThrough("tests/conformance/main.ts"),
  },
  check: {
    help: "check format, lint, types, unused code, generated files and commits; run unit tests and controllers on the embedded API server",
    load: async () => (await import("./tasks/check.ts")).check,
  },
  fix: {
    help: "format, and apply automatic lint fixes",
    load: async () => (await import("./tasks/fix.ts")).fix,
  },
  generate: {
    help: "write all generated files, or only the given ones",
    load: async () => (await import("./tasks/generate.ts")).generate,
  },
  crdgen: {
    help: "write deploy/crds from the schemas",
    load: async () => {
      const { generate } = await import("./tasks/generate.ts");
      return () => generate(["crds"]);
    },
  },
  kindgen: {
    help: "update the kinds of the embedded API server from the real one",
    load: async () => (await import("./kindgen/kindgen.ts")).kindgen,
  },
  components: {
    help: "obtain the real components that tests use",
    load: async () => passThrough("tools/components.ts"),
  },
  bench: {
    help: "run the benchmarks; results are ratios in bench/results",
    load: async () => (await import("./tasks/bench.ts")).bench,
  },
  console: {
    help: "build the web console when its sources changed",
    load: async () => (await import("./tasks/console.ts")).consoleTask,
  },
  bundle: {
    help: "bundle each app into one file in dist/, with its bill of materials (CycloneDX)",
    load: async () => (await import("./tasks/bundle.ts")).bundle,
  },
  images: {
    help: "build the OCI images in dist/images, without a container engine (--help lists its options)",
    load: async () => (await import("./tasks/images.ts")).images,
  },
  release: {
    help: "prepare and build a release (--prepare VERSION, --dry-run; --help lists the options)",
    load: async () => (await import("./tasks/release.ts")).release,
  },
  advisories: {
    help: "fetch the advisories that npm run check compares with the lockfile",
    load: async () => (await import("./tasks/advisories.ts")).advisories,
  },
  hooks: {
    help: "install the optional git hooks (remove with --remove)",
    load: async () => (await import("./tasks/hooks.ts")).hooks,
  },
};

const [name = "", ...args] = process.argv.slice(2);
const offered = TASKS[name];
if (offered) {
  const run = await offered.load();
  process.exitCode = await run(args);
} else {
  const lines = Object.entries(TASKS).map(([known, { help }]) => `  ${known.padEnd(13)} ${help}`);
  process.stderr.write(`${name ? `Unknown task "${name}". ` : ""}Tasks:\n${lines.join("\n")}\n`);
  process.exitCode = 2;
}
