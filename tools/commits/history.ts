import { capture } from "../tasks/command.ts";
import { subjectProblem } from "./message.mjs";

/** Commits of this branch whose first line breaks the form; empty when there are none, or no git. */
export async function staleCommits(): Promise<string> {
  const { exitCode, output } = await capture("git", ["log", "--format=%h %s", "-n", "200"]);
  if (exitCode !== 0) return "";
  return output
    .split("\n")
    .filter((line) => line !== "")
    .flatMap((line) => {
      const [hash = "", ...words] = line.split(" ");
      const problem = subjectProblem(words.join(" "));
      return problem === undefined ? [] : [`${hash} "${words.join(" ")}" ${problem}`];
    })
    .join("\n");
}
