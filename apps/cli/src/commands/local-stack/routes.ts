import { buildCommand, buildRouteMap, numberParser, type Command } from "@stricli/core";
import { parseDuration } from "../../command/argument-parsers.ts";
import { completeLoaded, completeNames } from "../../command/complete.ts";
import type { CliContext } from "../../command/command.ts";
import { booleanFlag, outputFlag, textFlag, yesFlag } from "../../command/flags.ts";
import type { ExitCode } from "../../exit-code.ts";
import type { Session } from "../../session/session.ts";

/** The commands of the local stack. They use a stack on this machine instead of a context. */
const data = textFlag("data folder of the stack; .oaas/data by default", "folder");

interface StackCommandSpec {
  readonly brief: string;
  readonly examples: readonly string[];
  readonly flags: Readonly<Record<string, object>>;
  readonly aliases?: Readonly<Record<string, string>>;
  readonly positional?: object;
  readonly load: () => Promise<(session: Session, flags: never, ...args: never[]) => Promise<ExitCode | void>>;
}

/** Builds a command without the global `--context` flag: for `up`, `--context` names a kubeconfig context. */
function stackCommand({ brief, examples, flags, aliases, positional, load }: StackCommandSpec): Command<CliContext> {
  const built = {
    docs: { brief, fullDescription: `${brief}\n\nExamples:\n${examples.map((line) => `  ${line}`).join("\n")}` },
    parameters: {
      flags: { ...flags, output: outputFlag },
      aliases: { o: "output", ...aliases },
      ...(positional === undefined ? {} : { positional }),
    },
    loader: async () => {
      const [run, { runCommand }] = await Promise.all([load(), import("../../command/run-command.ts")]);
      return async function (this: CliContext, values: { readonly output?: string }, ...args: never[]): Promise<void> {
        const common = values.output === undefined ? {} : { output: values.output };
        this.exit(
          await runCommand(await this.environment(), common, (session) => run(session, values as never, ...args)),
        );
      };
    },
  };
  // Stricli's types cannot infer flags that are merged from two objects.
  return buildCommand(built as never);
}

async function scenarioNames(): Promise<readonly string[]> {
  const { SCENARIOS } = await import("../lab/scenarios.ts");
  return [...SCENARIOS.map(({ name }) => name), "all"];
}

const lab = buildRouteMap({
  docs: { brief: "Run fault injection scenarios against the local stack" },
  aliases: { ls: "list", mend: "restore" },
  defaultCommand: "list",
  routes: {
    list: stackCommand({
      brief: "List the fault injection scenarios",
      examples: ["oaas lab", "oaas lab list -o yaml"],
      flags: {},
      load: async () => (await import("../lab/commands.ts")).listScenarios,
    }),
    run: stackCommand({
      brief: "Run scenarios: each injects a fault, checks the expected behaviour and removes the fault",
      examples: ["oaas lab run cluster-down", "oaas lab run partition --cluster cloud", "oaas lab run all"],
      flags: {
        cluster: textFlag("cluster to break; the first by default", "name", completeNames("cluster")),
        data,
        timeout: {
          kind: "parsed",
          parse: parseDuration,
          default: "90s",
          brief: "timeout of each check: 90s, 5m",
          placeholder: "time",
        },
      },
      positional: {
        kind: "array",
        parameter: {
          brief: "scenario names, or all",
          placeholder: "scenario",
          parse: String,
          proposeCompletions: completeLoaded(scenarioNames),
        },
      },
      load: async () => (await import("../lab/commands.ts")).runScenarios,
    }),
    restore: stackCommand({
      brief: "Remove all injected faults",
      examples: ["oaas lab restore"],
      flags: { data },
      load: async () => (await import("../lab/commands.ts")).restoreStack,
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
        brief: "number of simulated clusters: 1, 2 or 3",
        placeholder: "number",
      },
      ports: textFlag(
        "first port, or up to four ports: package manager, status page, API servers, class runtime managers",
        "ports",
      ),
      data,
      context: {
        kind: "parsed",
        parse: String,
        optional: true,
        variadic: true,
        brief: "kubeconfig context of an existing cluster to use instead of simulated clusters; may be repeated",
        placeholder: "name",
      },
      real: booleanFlag("use real Kubernetes control planes instead of simulated clusters"),
      noCluster: booleanFlag("start the package manager only"),
      headless: booleanFlag("print plain lines instead of the screen"),
      logs: booleanFlag("print the logs of all components instead of the screen"),
      yes: booleanFlag("install our CRDs in the clusters of --context without asking"),
      detach: booleanFlag("run in the background; see oaas status and oaas down"),
    },
    aliases: { d: "detach", y: "yes" },
    load: async () => (await import("./up.ts")).up,
  }),
  down: stackCommand({
    brief: "Stop the local stack and keep its data",
    examples: ["oaas down"],
    flags: { data },
    load: async () => (await import("./down.ts")).down,
  }),
  reset: stackCommand({
    brief: "Stop the local stack and delete its data",
    examples: ["oaas reset", "oaas reset --yes"],
    flags: { data, yes: yesFlag },
    aliases: { y: "yes" },
    load: async () => (await import("./down.ts")).reset,
  }),
  status: stackCommand({
    brief:
      "Show the components and deployments of the local stack; exits with 1 if one failed or is Degraded or Down, with 3 if no stack is running",
    examples: ["oaas status", "oaas status -o json", "oaas status --logs 50", "oaas status --follow"],
    flags: {
      data,
      logs: {
        kind: "parsed",
        parse: numberParser,
        optional: true,
        brief: "print this many lines of the logs instead",
        placeholder: "lines",
      },
      follow: booleanFlag(
        "print the last log lines (20, or the number given with --logs) and follow the logs until Ctrl-C",
      ),
    },
    aliases: { f: "follow" },
    load: async () => (await import("./status.ts")).stackStatus,
  }),
  lab,
};
