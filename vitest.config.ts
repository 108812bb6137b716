import path from "node:path";
import { defineConfig } from "vitest/config";
import { LongestFirst } from "./tools/tasks/longest-first.ts";

/** Controller suites that take seconds on the embedded API server; the others take minutes on both servers. */
const QUICK_CONTROLLERS = [
  "controller",
  "drift",
  "enforcement",
  "environment",
  "grpc-kubernetes",
  "inspection",
  "journey",
  "keda",
  "many-classes",
  "monitors",
  "namespace-creation",
  "namespaces",
  "nfr-status",
  "ownership",
  "preview",
  "quota",
  "references",
  "resize",
  "scale-to-zero",
  "state-layout",
  "template-roll-out",
  "user-roles",
];

/** Loads files with Node instead of Vite, as our programs do; Vite took a third of the time of all unit tests. */
const AS_NODE_LOADS_THEM = { viteModuleRunner: false, nodeLoader: false };

/** Tests start our programs hundreds of times, and compiling takes half of each start. */
const COMPILED_ONCE = { NODE_COMPILE_CACHE: path.join(import.meta.dirname, "node_modules", ".cache", "compiled") };

/** At full size (npm run sweep) a test runs 10 to 100 times as many cases. */
const PATIENCE = process.env["OAAS_SWEEP"] === "full" ? 10 : 1;

/**
 * unit: pure code, next to its source, two processes. embedded: controllers on the embedded API server, which need only
 * kubectl. integration: real components, one process per file, including the same controllers. full: heavy components
 * (npm run test:full). Tests read the sweep size (npm run sweep) themselves.
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
          testTimeout: 60_000 * PATIENCE,
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
          testTimeout: 240_000 * PATIENCE,
          hookTimeout: 180_000,
        },
      },
      {
        test: {
          name: "integration",
          sequence: { groupOrder: 2 },
          include: ["packages/*/test/**/*.test.ts", "apps/*/test/**/*.test.ts", "tests/*/test/**/*.test.ts"],
          exclude: ["**/*.full.test.ts"],
          pool: "forks",
          experimental: AS_NODE_LOADS_THEM,
          setupFiles: ["tests/setup/compile-cache.ts", "tests/setup/property-seed.ts"],
          // API servers and kubectl spend a third of their time on garbage collection in small heaps.
          env: { ...COMPILED_ONCE, GOGC: "400" },
          // Twice two cores: suites about outages, leases and load mostly wait; the lab uses a fifth of a core.
          maxWorkers: 4,
          testTimeout: 240_000 * PATIENCE,
          hookTimeout: 180_000,
        },
      },
      {
        test: {
          name: "full",
          sequence: { groupOrder: 3 },
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
