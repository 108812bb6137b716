import path from "node:path";
import { defineConfig } from "vitest/config";

/**
 * unit: pure code, beside its source, one process. integration: real components, a process per file.
 * full: the heavy components (npm run test:full). The sweep size (npm run sweep) is read by the tests themselves.
 */
export default defineConfig({
  test: {
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
          setupFiles: ["tests/setup/property-seed.ts"],
          testTimeout: 20_000,
        },
      },
      {
        test: {
          name: "integration",
          sequence: { groupOrder: 1 },
          include: ["packages/*/test/**/*.test.ts", "apps/*/test/**/*.test.ts", "tests/*/test/**/*.test.ts"],
          exclude: ["**/*.full.test.ts"],
          pool: "forks",
          setupFiles: ["tests/setup/property-seed.ts"],
          // Our programs are started hundreds of times, and half of each start is compiling them.
          env: { NODE_COMPILE_CACHE: path.join(import.meta.dirname, "node_modules", ".cache", "compiled") },
          maxWorkers: 2,
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
          maxWorkers: 1,
          testTimeout: 600_000,
          hookTimeout: 900_000,
        },
      },
    ],
  },
});
