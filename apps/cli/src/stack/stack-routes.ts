import { buildCommand, buildRouteMap, numberParser, type Command } from "@stricli/core";
import { duration, type CliContext } from "../command.ts";
import type { ExitCode } from "../exit-code.ts";
import type { Session } from "../session/session.ts";

/** The commands of the local stack. They talk to a stack on this machine, not to a context. */
const text = (brief: string, placeholder: string) =>
  ({ kind: "parsed", parse: String, optional: true, brief, placeholder }) as const;
const flag = (brief: string) => ({ kind: "boolean", brief, default: false, withNegated: false }) as const;
const data = text("the stack's data folder; .oaas/data by default", "folder");
const output = text("table, or json and its kin for programs", "format");

interface StackCommandSpec {
  readonly brief: string;
  readonly examples: readonly string[];
  readonly flags: Readonly<Record<string, object>>;
  readonly aliases?: Readonly<Record<string, string>>;
  readonly positional?: object;
  readonly load: () => Promise<(session: Session, flags: never, ...args: never[]) => Promise<ExitCode | void>>;
}

/** A command without the flag that chooses a platform: here `--context` is a cluster of a kubeconfig. */
function stackCommand({ brief, examples, flags, aliases, positional, load }: StackCommandSpec): Command<CliContext> {
  const built = {
    docs: { brief, fullDescription: `${brief}\n\nExamples:\n${examples.map((line) => `  ${line}`).join("\n")}` },
    parameters: {
      flags: { ...flags, output },
      aliases: { o: "output", ...aliases },
      ...(positional === undefined ? {} : { positional }),
    },
    loader: async () => {
      const [run, { runCommand }] = await Promise.all([load(), import("../run-command.ts")]);
      return async function (this: CliContext, given: { readonly output?: string }, ...args: never[]): Promise<void> {
        const common = given.output === undefined ? {} : { output: given.output };
        this.ended(await runCommand(await this.world(), common, (session) => run(session, given as never, ...args)));
      };
    },
  };
  // The library's own types do not follow flags that are put together from two parts.
  return buildCommand(built as never);
}

const lab = buildRouteMap({
  docs: { brief: "Break the local stack on purpose, and see what happens" },
  aliases: { ls: "list" },
  defaultCommand: "list",
  routes: {
    list: stackCommand({
      brief: "List what can go wrong",
      examples: ["oaas lab", "oaas lab list -o yaml"],
      flags: {},
      load: async () => (await import("../commands/lab.ts")).listScenarios,
    }),
    run: stackCommand({
      brief: "Play scenarios: each says what should be seen, checks it, and puts everything back",
      examples: ["oaas lab run cluster-down", "oaas lab run partition --cluster cloud", "oaas lab run all"],
      flags: {
        cluster: text("the cluster to break; the first by default", "name"),
        data,
        timeout: {
          kind: "parsed",
          parse: duration,
          default: "90s",
          brief: "how long each check may take: 90s, 5m",
          placeholder: "time",
        },
      },
      positional: {
        kind: "array",
        parameter: { brief: "names of scenarios, or all", placeholder: "scenario", parse: String },
      },
      load: async () => (await import("../commands/lab.ts")).runScenarios,
    }),
    mend: stackCommand({
      brief: "Put back whatever was broken on purpose",
      examples: ["oaas lab mend"],
      flags: { data },
      load: async () => (await import("../commands/lab.ts")).mendStack,
    }),
  },
});

export const stackRoutes = {
  up: stackCommand({
    brief: "Start the local stack: package manager, clusters, examples",
    examples: [
      "oaas up",
      "oaas up --detach",
      "oaas up --clusters 2 --ports 9000",
      "oaas up --context kind-a --context kind-b",
      "oaas up --headless -o json",
    ],
    flags: {
      clusters: {
        kind: "parsed",
        parse: numberParser,
        optional: true,
        brief: "how many simulated clusters: 1, 2 or 3",
        placeholder: "number",
      },
      ports: text("a first port, or up to four: package manager, page, API servers, managers", "ports"),
      data,
      context: {
        kind: "parsed",
        parse: String,
        optional: true,
        variadic: true,
        brief: "a context of your kubeconfig: an existing cluster in place of simulated ones; may be repeated",
        placeholder: "name",
      },
      real: flag("real Kubernetes control planes in place of simulated clusters"),
      noCluster: flag("the package manager alone"),
      headless: flag("plain lines in place of the screen"),
      logs: flag("log lines of everything in place of the screen"),
      yes: flag("install our kinds in the clusters of --context without asking"),
      detach: flag("run on when this command has ended; oaas status, oaas down"),
    },
    aliases: { d: "detach", y: "yes" },
    load: async () => (await import("../commands/up.ts")).up,
  }),
  down: stackCommand({
    brief: "Stop the local stack; its data stays",
    examples: ["oaas down"],
    flags: { data },
    load: async () => (await import("../commands/down.ts")).down,
  }),
  reset: stackCommand({
    brief: "Stop the local stack and delete its data",
    examples: ["oaas reset", "oaas reset --yes"],
    flags: { data, yes: flag("do not ask") },
    aliases: { y: "yes" },
    load: async () => (await import("../commands/reset.ts")).reset,
  }),
  status: stackCommand({
    brief: "How the local stack is: parts, addresses, memory; ends with 3 when none runs",
    examples: ["oaas status", "oaas status -o json", "oaas status --logs 50", "oaas status --follow"],
    flags: {
      data,
      logs: {
        kind: "parsed",
        parse: numberParser,
        optional: true,
        brief: "the last lines of all its logs instead",
        placeholder: "lines",
      },
      follow: flag("its logs as they are written, until Ctrl-C; after the last 20 lines, or as many as --logs says"),
    },
    aliases: { f: "follow" },
    load: async () => (await import("../commands/stack-status.ts")).stackStatus,
  }),
  lab,
};
