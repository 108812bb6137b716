import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { makeRunFolder, startProcess, untilReady } from "@oaas/testkit";
import { bundleCli } from "../tools/tasks/bundle-cli.ts";
import { ROOT } from "../tools/tasks/root.ts";
import type { Bench } from "./harness.ts";

const ROUNDS = 5;
const EXAMPLES = ["hello/hello.yaml", "state/cart.yaml", "multi-cluster/ledger.yaml"] as const;

/** Time of `oaas apply --wait` in the local stack until a class runs, and of a read-only command. */
export const bench: Bench = {
  name: "cli-apply",
  async run(log) {
    const folder = await makeRunFolder("cli-apply");
    const cli = path.join(folder.path, "cli.mjs");
    await bundleCli(cli);
    const logFile = path.join(folder.path, "stack.log");
    const stack = await startProcess({
      name: "local stack",
      command: process.execPath,
      args: [
        path.join(ROOT, "apps/dev-stack/src/main.ts"),
        "--server-port=0",
        "--oaas-stack-page-port=0",
        "--output=json",
      ],
      cwd: folder.path,
      logFile,
    });
    try {
      const ready = () =>
        readFileSync(logFile, "utf8")
          .split("\n")
          .find((line) => line.includes('"status":"ready"'));
      await untilReady(stack, async () => ready() !== undefined, 120_000);
      const { url } = JSON.parse(ready() ?? "{}") as { readonly url: string };
      const env = { ...process.env, HOME: folder.path, OAAS_PM_URL: url };
      const oaas = (...args: readonly string[]): number => {
        const before = performance.now();
        const { status, stderr } = spawnSync(process.execPath, [cli, ...args], { env, encoding: "utf8" });
        if (status !== 0) throw new Error(`oaas ${args.join(" ")} ended with ${status}: ${stderr}`);
        return performance.now() - before;
      };
      const list = median(Array.from({ length: ROUNDS }, () => oaas("package", "list")));
      const measurements = [{ name: "oaas package list", value: list, unit: "ms", note: "median, wall" }];
      for (const example of EXAMPLES) {
        const file = path.join(ROOT, "examples", example);
        const key = path.basename(example, ".yaml");
        // Warm up first: the stack has deployed some of these examples.
        const [, ...times] = Array.from({ length: ROUNDS + 1 }, () => {
          const taken = oaas("apply", "-f", file, "--wait");
          oaas("delete", "-f", file, "--yes");
          oaas("wait", key, "--for=delete");
          return taken;
        });
        log(`${example}: ${Math.round(median(times))} ms`);
        measurements.push({
          name: `oaas apply -f ${example} --wait`,
          value: median(times),
          unit: "ms",
          note: "median, wall",
        });
      }
      return { title: "From oaas apply to a class that runs, in the local stack", measurements, ratios: [] };
    } finally {
      await stack.stop(30_000);
      await folder.remove();
    }
  },
};

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
}
