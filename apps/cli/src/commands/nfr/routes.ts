import { buildRouteMap } from "@stricli/core";
import { parseDuration, parseFraction } from "../../command/argument-parsers.ts";
import { command, optionalArgument, requiredArgument, requiredArguments } from "../../command/command.ts";
import { booleanFlag, choiceFlag, clusterFlag, numberFlag, textFlag } from "../../command/flags.ts";

export const nfr = buildRouteMap({
  docs: { brief: "Explain, check, prove and replay decisions on non-functional requirements" },
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
      positional: optionalArgument(
        "a class written as package.Class, a deployment, or the id of a class runtime",
        "class",
      ),
      load: async () => (await import("./explain.ts")).explainRequirements,
    }),
    verify: command({
      brief: "Recompute enforcement decisions from their records; exits with 1 if one is not equal",
      examples: [
        "oaas nfr verify shop.Order",
        "oaas nfr verify shop.Order --cluster edge --action Order.place/replicas",
        "kubectl get event hello.17f1 -o json | oaas nfr verify -",
        "kubectl get events -o json > events.json && oaas nfr verify events.json -o json",
      ],
      flags: {
        cluster: clusterFlag,
        action: textFlag("only this action: component, component/dimension, or the start of its digest", "action"),
      },
      positional: requiredArguments(
        "a class written as package.Class, a deployment, the id of a class runtime, or the name of an Event; or a file with Kubernetes events or decision records, as JSON; - for standard input",
        "subject",
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
    backtest: command({
      brief:
        "Replay recorded metrics with a policy; exits with 1 if the recording has decisions and one of them is different",
      examples: [
        "oaas nfr backtest monday.json --policy policy.yaml --svg monday.svg",
        "oaas nfr backtest monday.json --simulate -o json",
        "oaas nfr backtest --prometheus http://localhost:9090 --class hello --from 24h --max-latency 200 --save monday.json",
      ],
      flags: {
        policy: textFlag("file with the settings of the policy; the defaults otherwise", "file"),
        simulate: booleanFlag("run the recorded load on a model of the component, which reacts to the decisions"),
        svg: textFlag("file that receives a plot of load, replicas and violations", "file"),
        save: textFlag("file that receives the recording", "file"),
        prometheus: textFlag(
          "read from this server; sends OAAS_PROMETHEUS_TOKEN and OAAS_PROMETHEUS_TENANT when set",
          "url",
        ),
        class: textFlag("name of the class runtime", "name"),
        namespace: textFlag("namespace of the class runtime; default by default", "name"),
        function: textFlag("value of the label function, for a class with several functions", "name"),
        workload: textFlag("name of the Deployment, StatefulSet or Knative Service; the class by default", "name"),
        naming: choiceFlag("names of the metrics; prometheus by default", "scheme", "prometheus", "opentelemetry"),
        from: textFlag("start: a time, or 6h for six hours ago, which is the default", "time"),
        to: textFlag("end: a time, or 1h for an hour ago; now by default", "time"),
        step: numberFlag("time between two samples and decisions; 30s by default", "time", parseDuration),
        maxLatency: numberFlag("latency requirement in milliseconds", "ms"),
        minThroughput: numberFlag("throughput requirement in requests per second", "rps"),
        availability: numberFlag("availability requirement, such as 0.999", "share", parseFraction),
        minReplicas: numberFlag("minimum of the class; 1 by default", "count"),
        maxReplicas: numberFlag("maximum of the class; the one of the policy by default", "count"),
        cpuRequest: numberFlag("CPU request of a replica in millicores", "millicores"),
      },
      positional: optionalArgument("recording, as JSON; - for standard input", "file"),
      load: async () => (await import("./backtest.ts")).backtest,
    }),
  },
});
