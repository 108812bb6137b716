import { buildRouteMap } from "@stricli/core";
import { command, optionalArgument, requiredArgument, requiredArguments } from "../../command/command.ts";
import { clusterFlag, numberFlag, textFlag } from "../../command/flags.ts";

export const nfr = buildRouteMap({
  docs: { brief: "Explain, check and prove decisions on non-functional requirements" },
  routes: {
    explain: command({
      brief: "Explain the requirements, recommendations and enforcement of a class, and what would change them",
      examples: [
        "oaas nfr explain shop.Order",
        "oaas nfr explain shop.Order --cluster edge -o json",
        "kubectl get classruntime hello -o json | oaas nfr explain --file -",
      ],
      flags: {
        cluster: clusterFlag,
        file: textFlag("read class runtimes from a file with the JSON of kubectl; - for standard input", "file"),
      },
      positional: optionalArgument("a class written as package.Class, or the id of a class runtime", "class"),
      load: async () => (await import("./explain.ts")).explainRequirements,
    }),
    verify: command({
      brief: "Recompute recorded enforcement decisions; exits with 1 if one is not equal",
      examples: [
        "kubectl get event hello.17f1 -o json | oaas nfr verify -",
        "kubectl get events -o json > events.json && oaas nfr verify events.json",
        "oaas nfr verify record.json -o json",
      ],
      flags: {},
      positional: requiredArguments(
        "files with Kubernetes events or decision records, as JSON; - for standard input",
        "file",
      ),
      load: async () => (await import("./verify.ts")).verifyDecisions,
    }),
    prove: command({
      brief: "Check a policy on every state of a grid; exits with 1 and a counterexample if a law is broken",
      examples: ["oaas nfr prove policy.yaml", "oaas nfr prove policy.yaml --max-replicas 20 -o json"],
      flags: {
        maxReplicas: numberFlag("largest number of replicas of the grid; 10 by default", "count"),
        loads: numberFlag("different loads of the grid; 3 by default, each adds much time", "count"),
        tick: numberFlag("seconds between two decisions; 60 by default", "seconds"),
      },
      positional: requiredArgument("file with the settings of the policy; - for standard input", "file"),
      load: async () => (await import("./prove.ts")).provePolicy,
    }),
  },
});
