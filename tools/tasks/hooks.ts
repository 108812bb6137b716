import { capture } from "./command.ts";

/**
 * `npm run hooks [-- --remove]`: enables or disables the git hooks in tools/hooks. They are optional: CI runs the same
 * checks.
 */
export async function hooks(args: readonly string[]): Promise<number> {
  const remove = args.includes("--remove");
  const change = remove ? ["--unset", "core.hooksPath"] : ["core.hooksPath", "tools/hooks"];
  const { exitCode, output } = await capture("git", ["config", ...change]);
  const outcome = remove ? "Hooks are disabled." : "Hooks are enabled: commit messages are checked before each commit.";
  console.log(exitCode === 0 ? outcome : output.trim() || "Nothing to change.");
  return remove ? 0 : exitCode;
}
