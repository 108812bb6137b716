import { STACK_NODE_FLAGS } from "@oaas/stack-folder";
import { kindgen } from "./kindgen/kindgen.ts";
import { advisories } from "./tasks/advisories.ts";
import { apiFuzz } from "./tasks/api-fuzz.ts";
import { bench } from "./tasks/bench.ts";
import { bundle } from "./tasks/bundle.ts";
import { check } from "./tasks/check.ts";
import { consoleTask, withConsole } from "./tasks/console.ts";
import { fix } from "./tasks/fix.ts";
import { generate } from "./tasks/generate.ts";
import { hooks } from "./tasks/hooks.ts";
import { images } from "./tasks/images.ts";
import { passThrough } from "./tasks/pass-through.ts";
import { release } from "./tasks/release.ts";
import { runTests } from "./tasks/test.ts";

/** A task returns its exit code. */
type Task = (args: readonly string[]) => Promise<number>;

/** All `npm run` commands of the root. */
const TASKS: Record<string, { readonly help: string; readonly run: Task }> = {
  start: {
    help: "start the local stack",
    run: withConsole(passThrough("apps/dev-stack/src/main.ts", STACK_NODE_FLAGS)),
  },
  crm: {
    help: "run the class runtime manager against a cluster (KUBECONFIG, or --oprc-crm-kube-context=…)",
    run: passThrough("apps/class-runtime-manager/src/main.ts"),
  },
  cluster: {
    help: "start one embedded Kubernetes cluster on loopback, for kubectl (--help lists its flags)",
    run: passThrough("packages/kube-apiserver/src/main.ts"),
  },
  pm: {
    help: "run the package manager (set clusters with CRM_CLUSTERS_JSON or CRM_DEFAULT_URL; --help lists all settings)",
    run: withConsole(passThrough("apps/package-manager/src/main.ts")),
  },
  test: { help: "run all checks and the suites with Kubernetes, etcd, Prometheus and Chromium", run: runTests("test") },
  "test:full": { help: "run npm test and the suites with heavy components", run: runTests("full") },
  "test:api-fuzz": { help: "run Schemathesis against the OpenAPI document of the package manager", run: apiFuzz },
  sweep: { help: "run fuzzing, kill points and soak tests at full size", run: runTests("sweep") },
  conformance: {
    help: "compare the embedded API server with the real one (--record, --subject, --sequences, --recorded)",
    run: passThrough("tests/conformance/main.ts"),
  },
  check: {
    help: "check format, lint, types, unused code, generated files and commits; run unit tests and controllers on the embedded API server",
    run: check,
  },
  fix: { help: "format, and apply automatic lint fixes", run: fix },
  generate: { help: "write all generated files, or only the given ones", run: generate },
  crdgen: { help: "write deploy/crds from the schemas", run: () => generate(["crds"]) },
  kindgen: { help: "update the kinds of the embedded API server from the real one", run: kindgen },
  components: { help: "obtain the real components that tests use", run: passThrough("tools/components.ts") },
  bench: { help: "run the benchmarks; results are ratios in bench/results", run: bench },
  console: { help: "build the web console when its sources changed", run: consoleTask },
  bundle: { help: "bundle each app into one file in dist/, with its bill of materials (CycloneDX)", run: bundle },
  images: {
    help: "build the OCI images in dist/images, without a container engine (--help lists its options)",
    run: images,
  },
  release: {
    help: "prepare and build a release (--prepare VERSION, --dry-run; --help lists the options)",
    run: release,
  },
  advisories: { help: "fetch the advisories that npm run check compares with the lockfile", run: advisories },
  hooks: { help: "install the optional git hooks (remove with --remove)", run: hooks },
};

const [name = "", ...args] = process.argv.slice(2);
const task = TASKS[name];
if (task) {
  process.exitCode = await task.run(args);
} else {
  const lines = Object.entries(TASKS).map(([known, { help }]) => `  ${known.padEnd(13)} ${help}`);
  process.stderr.write(`${name ? `Unknown task "${name}". ` : ""}Tasks:\n${lines.join("\n")}\n`);
  process.exitCode = 2;
}
