import type { Part } from "./parts.ts";
import type { Starts } from "./starts.ts";

/** What a person sees when the stack is up. */
export function readyScreen(input: {
  readonly url: string;
  readonly dataDir: string;
  readonly starts: Starts;
  readonly parts: readonly Part[];
}): string {
  const { url, dataDir, starts, parts } = input;
  const rows = parts.map(({ name, what, running }) => `  ${running ? "●" : "○"} ${name.padEnd(25)} ${what}`);
  return [
    "",
    `OaaS local stack: ${url}`,
    "",
    ...rows,
    "",
    "  ● running   ○ not in the stack yet",
    "",
    `  Data      ${dataDir} (start ${starts.count}${starts.previousAt === undefined ? "" : `, the last was ${starts.previousAt}`})`,
    `  Try       curl ${url}/health`,
    `  Settings  npm start -- --help`,
    "  Stop      Ctrl-C",
    "",
    "",
  ].join("\n");
}
