import { capture } from "./command.ts";

/** `npm run hooks [-- --remove]`: points git at tools/hooks, or back. Hooks are optional: CI checks the same. */
export async function hooks(args: readonly string[]): Promise<number> {
  const remove = args.includes("--remove");
  const change = remove ? ["--unset", "core.hooksPath"] : ["core.hooksPath", "tools/hooks"];
  const { exitCode, output } = await capture("git", ["config", ...change]);
  const outcome = remove ? "Hooks are off." : "Hooks are on: commit messages are checked before each commit.";
  console.log(exitCode === 0 ? outcome : output.trim() || "Nothing to change.");
  return remove ? 0 : exitCode;
}
