import { ensureComponents } from "../components.ts";
import { runStaticChecks } from "./check.ts";
import { consoleTask } from "./console.ts";
import { runVitestTolerantly } from "./vitest.ts";

/**
 * test: suites with Kubernetes, KWOK, etcd, Prometheus and Chromium. full: heavy components too. sweep: at full size.
 */
type Tier = "test" | "full" | "sweep";

/** `npm test`, `npm run test:full`, `npm run sweep`: components, static checks, suites, and a summary. */
export function runTests(tier: Tier): (args: readonly string[]) => Promise<number> {
  return async (filters) => {
    heading("Checks");
    const statics = await runStaticChecks();
    heading("Real components");
    const components = await ensureComponents(tier === "full" ? "full" : "test", console.log);
    const missing = components.filter((component) => component.state === "missing");
    // Before the suites, which would each build it.
    const isBuilt = (await consoleTask()) === 0;
    heading("Suites");
    const suites = await runVitestTolerantly(
      tier === "full" ? ["unit", "integration", "full"] : ["unit", "integration"],
      tier === "sweep" ? { OAAS_SWEEP: "full" } : {},
      filters,
    );
    for (const { name, reason, remedy } of missing) {
      console.log(`Not available: ${name}: ${reason}\n  Fix: ${remedy}`);
    }
    const failed = statics.failed + suites.failed + (isBuilt ? 0 : 1);
    console.log(`${statics.passed + suites.passed} passed, ${failed} failed, ${suites.skipped} skipped`);
    return failed === 0 ? 0 : 1;
  };
}

function heading(title: string): void {
  console.log(`\n── ${title} ──`);
}
