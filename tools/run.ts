import { STACK_NODE_FLAGS } from "@oaas/stack-folder";
import { kindgen } from "./kindgen/kindgen.ts";
import { apiFuzz } from "./tasks/api-fuzz.ts";
import { bench } from "./tasks/bench.ts";
import { bundle } from "./tasks/bundle.ts";
import { check } from "./tasks/check.ts";
import { fix } from "./tasks/fix.ts";
import { generate } from "./tasks/generate.ts";
import { hooks } from "./tasks/hooks.ts";
import { passThrough } from "./tasks/pass-through.ts";
import { runTests } from "./tasks/test.ts";

/** A task answers its exit code. */
type Task = (args: readonly string[]) => Promise<number>;

/** Every `npm run` command of the root, and what it does. */
const TASKS: Record<string, { readonly help: string; readonly run: Task }> = {
  start: { help: "start the local stack", run: passThrough("apps/dev-stack/src/main.ts", STACK_NODE_FLAGS) },
  crm: {
    help: "run the class runtime manager against a cluster (KUBECONFIG, or --oprc-crm-kube-context=…)",
    run: passThrough("apps/class-runtime-manager/src/main.ts"),
  },
  cluster: {
    help: "one embedded Kubernetes cluster on loopback, for kubectl (--help lists its flags)",
    run: passThrough("packages/kube-apiserver/src/main.ts"),
  },
  pm: {
    help: "run the package manager (CRM_CLUSTERS_JSON or CRM_DEFAULT_URL name the clusters; --help lists every setting)",
    run: passThrough("apps/package-manager/src/main.ts"),
  },
  test: { help: "all checks and suites up to Kubernetes, etcd, Prometheus and Chromium", run: runTests("test") },
  "test:full": { help: "also the heavy components", run: runTests("full") },
  "test:api-fuzz": { help: "Schemathesis against the package manager's OpenAPI document", run: apiFuzz },
  sweep: { help: "fuzzing, kill points and soaks at full size", run: runTests("sweep") },
  conformance: {
    help: "the embedded API server against the real one, case by case (--record, --subject, --sequences, --recorded)",
    run: passThrough("tests/conformance/main.ts"),
  },
  check: {
    help: "format, lint, types, unused code, generated files, commits, unit tests, controllers on the embedded API server",
    run: check,
  },
  fix: { help: "format and mend what can be mended", run: fix },
  generate: { help: "write every generated file (name some to write only those)", run: generate },
  crdgen: { help: "write deploy/crds from the schemas", run: () => generate(["crds"]) },
  kindgen: { help: "write what the embedded API server knows of kinds, as the real one tells it", run: kindgen },
  components: { help: "obtain the real components that tests use", run: passThrough("tools/components.ts") },
  bench: { help: "measure; results as ratios in bench/results", run: bench },
  bundle: { help: "one file per service in dist/", run: bundle },
  hooks: { help: "install the optional git hooks (remove with --remove)", run: hooks },
};

const [name = "", ...args] = process.argv.slice(2);
const task = TASKS[name];
if (task) {
  process.exitCode = await task.run(args);
} else {
  const lines = Object.entries(TASKS).map(([known, { help }]) => `  ${known.padEnd(13)} ${help}`);
  process.stderr.write(`${name ? `There is no task "${name}". ` : ""}Tasks:\n${lines.join("\n")}\n`);
  process.exitCode = 2;
}
