import { capture } from "../tasks/command.ts";
import { messageProblem } from "./message.mjs";

/** The message rules apply to commits from this date on; older commits follow older rules. */
const RULES_SINCE = "2026-11-16T12:30:00Z";

/** Lists commits of this branch whose message breaks the rules; empty when there are none, or no git. */
export async function staleCommits(): Promise<string> {
  const { exitCode, output } = await capture("git", [
    "log",
    `--since=${RULES_SINCE}`,
    "--format=%h%n%B%x00",
    "-n",
    "500",
  ]);
  if (exitCode !== 0) return "";
  return output
    .split("\0")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "")
    .flatMap((entry) => {
      const [hash = "", ...message] = entry.split("\n");
      const problem = messageProblem(message.join("\n"));
      return problem === undefined ? [] : [`${hash} "${message[0] ?? ""}" ${problem}`];
    })
    .join("\n");
}
