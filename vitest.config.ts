import path from "node:path";
import { defineConfig } from "vitest/config";
import { LongestFirst } from "./tools/tasks/longest-first.ts";

/** Controller suites that take seconds on the embedded API server; the others need minutes of waiting wherever they run. */
const QUICK_CONTROLLERS = [
  "controller",
  "grpc-kubernetes",
  "journey",
  "many-classes",
  "namespaces",
  "ownership",
  "quota",
  "template-roll-out",
];

/** Our files run on Node as they are, so tests load them as programs do; passing them through Vite took a third of the time of all unit tests. */
const AS_NODE_LOADS_THEM = { viteModuleRunner: false, nodeLoader: false };

/** Our programs are started hundreds of times, and half of each start is compiling them. */
const COMPILED_ONCE = { NODE_COMPILE_CACHE: path.join(import.meta.dirname, "node_modules", ".cache", "compiled") };

/**
 * unit: pure code, beside its source, two processes. embedded: controllers on the embedded API server, so that they need no component but kubectl.
 * integration: real components, a process per file, the same controllers among them.
 * full: the heavy components (npm run test:full). The sweep size (npm run sweep) is read by the tests themselves.
 */
export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          name: "unit",
          sequence: { groupOrder: 0 },
          include: [
            "packages/*/src/**/*.test.ts",
            "apps/*/src/**/*.test.ts",
            "tests/architecture/**/*.test.ts",
            "tests/*/src/**/*.test.ts",
            "tools/**/*.test.ts",
          ],
          isolate: false,
          maxWorkers: 2,
          experimental: AS_NODE_LOADS_THEM,
          setupFiles: ["tests/setup/property-seed.ts"],
          testTimeout: 20_000,
        },
      },
      {
        test: {
          name: "embedded",
          sequence: { groupOrder: 1 },
          include: QUICK_CONTROLLERS.map((suite) => `apps/class-runtime-manager/test/${suite}.test.ts`),
          pool: "forks",
          experimental: AS_NODE_LOADS_THEM,
          setupFiles: ["tests/setup/property-seed.ts"],
          env: { KUBE_TARGET: process.env["KUBE_TARGET"] ?? "embedded" },
          maxWorkers: 2,
          testTimeout: 240_000,
          hookTimeout: 180_000,
        },
      },
      {
        test: {
          name: "integration",
          sequence: { groupOrder: 1 },
          include: ["packages/*/test/**/*.test.ts", "apps/*/test/**/*.test.ts", "tests/*/test/**/*.test.ts"],
          exclude: ["**/*.full.test.ts"],
          pool: "forks",
          experimental: AS_NODE_LOADS_THEM,
          setupFiles: ["tests/setup/compile-cache.ts", "tests/setup/property-seed.ts"],
          // API servers and kubectl spend a third of their time on collecting garbage in small heaps.
          env: { ...COMPILED_ONCE, GOGC: "400" },
          // One more than the project's two cores: suites of outages and of leases wait for a good half of their time.
          maxWorkers: 3,
          testTimeout: 240_000,
          hookTimeout: 180_000,
        },
      },
      {
        test: {
          name: "full",
          sequence: { groupOrder: 2 },
          include: ["packages/*/test/**/*.full.test.ts", "apps/*/test/**/*.full.test.ts", "tests/**/*.full.test.ts"],
          pool: "forks",
          experimental: AS_NODE_LOADS_THEM,
          maxWorkers: 1,
          testTimeout: 600_000,
          hookTimeout: 900_000,
        },
      },
    ],
  },
});
