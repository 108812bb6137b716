import { runCommand } from "@oaas/testkit";

/** Path, mode, owner, type and target of everything in a folder, and the digest of each file. */
export async function listTree(folder: string): Promise<readonly string[]> {
  const entries = await output("find", [folder, "-mindepth", "1", "-printf", String.raw`%P %M %U %G %l %y\n`]);
  const sums = await output("sh", ["-c", `cd "$0" && find . -type f -exec sha256sum {} +`, folder]);
  return [...entries.split("\n"), ...sums.split("\n")].toSorted();
}

async function output(command: string, args: readonly string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await runCommand(command, args, { timeoutMs: 300_000 });
  if (exitCode !== 0) throw new Error(stderr);
  return stdout;
}
