import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { startProcess, untilReady } from "@oaas/testkit";

const MAIN = path.resolve(import.meta.dirname, "..", "..", "dev-stack", "src", "main.ts");

/** A local stack with simulated clusters and the examples, in its own folder on free ports. */
export interface LocalStackUnderTest extends AsyncDisposable {
  readonly folder: string;
  /** URL of the package manager. */
  readonly url: string;
}

export async function startLocalStack(flags: readonly string[] = []): Promise<LocalStackUnderTest> {
  const folder = mkdtempSync(path.join(tmpdir(), "oaas-stack-"));
  const logFile = path.join(folder, "stack.log");
  const args = [MAIN, "--ports", "0", "--data", path.join(folder, "data"), "--output", "json", ...flags];
  const stack = await startProcess({ name: "local stack", command: process.execPath, args, cwd: folder, logFile });
  const ready = (): string | undefined =>
    readFileSync(logFile, "utf8")
      .split("\n")
      .find((line) => line.includes('"status":"ready"'));
  await untilReady(stack, async () => ready() !== undefined, 160_000);
  return {
    folder,
    url: (JSON.parse(ready() ?? "{}") as { readonly url: string }).url,
    [Symbol.asyncDispose]: async () => {
      await stack.stop(30_000);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
