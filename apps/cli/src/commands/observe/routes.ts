import { buildRouteMap } from "@stricli/core";
import {
  argument,
  command,
  deploymentArgument,
  optionalArgument,
  optionalArguments,
  requiredArguments,
} from "../../command/command.ts";
import { parseCount, parseDuration, parseNonEmpty } from "../../command/argument-parsers.ts";
import { completeDeployment, completeNames, completeSubject, completeTargets } from "../../command/complete.ts";
import { parseDeploymentKey } from "../../command/kinds.ts";
import {
  booleanFlag,
  choiceFlag,
  clusterFlag,
  keepWaitingFlag,
  numberFlag,
  packageFlag,
  repeatedFlag,
  textFlag,
  timeoutFlag,
} from "../../command/flags.ts";

/** The topics of the REST contract; a test compares them. */
export const TOPICS = ["deployment", "operation", "cluster", "class-runtime", "package"] as const;
const keyOfDeployment = deploymentArgument();

export const wait = command({
  brief: "Wait until a deployment reaches a condition",
  examples: [
    "oaas wait shop-order",
    "oaas wait --for=condition=Running shop-order",
    "oaas wait --for=delete shop-order --timeout=2m",
  ],
  flags: {
    for: {
      kind: "parsed",
      parse: String,
      default: "condition=Running",
      brief: "condition=Running, another condition, or delete",
      placeholder: "condition",
    },
    timeout: timeoutFlag,
    keepWaiting: keepWaitingFlag,
  },
  positional: keyOfDeployment,
  load: async () => (await import("./wait.ts")).waitFor,
});

export const events = command({
  brief: "Stream events of packages, deployments and clusters",
  examples: [
    "oaas events",
    "oaas events shop-order --topic deployment",
    "oaas events shop.Order",
    "oaas events -o json --count 10",
  ],
  flags: {
    topic: choiceFlag("deployment, operation, cluster, class-runtime or package", "topic", ...TOPICS),
    count: numberFlag("exit after this many events", "count"),
  },
  positional: optionalArgument(
    "only events of this key; package.Class selects all deployments of a class",
    "key",
    completeNames("deployment"),
  ),
  load: async () => (await import("./events.ts")).followEvents,
});

export const explain = command({
  brief: "Explain why a deployment is not ready, or describe a field of a file",
  examples: [
    "oaas explain shop-order",
    "oaas explain deployment/shop-order",
    "oaas explain package.classes.state_spec",
    "oaas explain deploy.rollout",
  ],
  flags: { cluster: clusterFlag },
  positional: {
    kind: "tuple",
    parameters: [
      argument(
        "a deployment, or a field path that starts with a kind; deployment/NAME always names a deployment",
        "subject",
        completeSubject,
      ),
      { ...argument("the deployment, after the kind", "name", completeTargets()), optional: true },
    ],
  },
  load: async () => (await import("./explain.ts")).explain,
});

export const logs = command({
  brief: "Show the output of functions from all their pods and clusters, or the history of a class",
  examples: [
    "oaas logs shop-order",
    "oaas logs deployment/shop-order --function place -f",
    "oaas logs shop.Order --cluster edge --tail 20 --since 5m --timestamps",
    "oaas logs shop-order -f --contains error",
    "oaas logs shop-order --history",
  ],
  flags: {
    function: textFlag("of this function only", "key"),
    cluster: clusterFlag,
    follow: booleanFlag("keep streaming until Ctrl-C"),
    tail: numberFlag("only the last lines of each pod, up to this number", "count", parseCount),
    since: {
      kind: "parsed",
      parse: parseDuration,
      optional: true,
      brief: "only output of the last 90s, 5m, 2h",
      placeholder: "time",
    },
    contains: textFlag("only lines that contain this text; --tail counts before", "text"),
    timestamps: booleanFlag("show the time of each line"),
    previous: booleanFlag("output of the previous run of each restarted container"),
    history: booleanFlag("revisions, functions, workloads, pods and events instead, oldest first"),
  },
  aliases: { f: "follow", p: "previous" },
  positional: deploymentArgument("a deployment, or a class written as package.Class"),
  load: async () => (await import("./logs.ts")).logs,
});

export const invoke = command({
  brief: "Send one request to a function through the control plane, to try it out",
  examples: [
    "oaas invoke hello greet --data 'Ann'",
    "oaas invoke shop-order place -f order.json --cluster edge",
    "oaas invoke shop-order place --method GET --path '/status?verbose=1' -o json",
  ],
  flags: {
    data: textFlag("body of the request", "text"),
    file: textFlag("file with the body, or - for standard input", "path"),
    cluster: textFlag(
      "cluster to call; by default the first one where the function is ready",
      "name",
      completeNames("cluster"),
    ),
    method: textFlag("GET, POST, PUT, PATCH or DELETE; POST by default", "method"),
    path: textFlag("path and query; / by default", "path"),
    header: repeatedFlag("request header, such as 'content-type: application/json'; may be repeated", "header"),
  },
  aliases: { f: "file", d: "data", X: "method" },
  positional: {
    kind: "tuple",
    parameters: [
      {
        brief: "a deployment",
        placeholder: "deployment",
        parse: parseDeploymentKey,
        proposeCompletions: completeDeployment,
      },
      {
        brief: "the function: its key, or the part behind the class; not needed if there is only one",
        placeholder: "function",
        parse: parseNonEmpty,
        optional: true,
      },
    ],
  },
  load: async () => (await import("./invoke.ts")).invoke,
});

/** Refused by design; it exists to name the alternatives. */
export const exec = command({
  brief: "Not offered: says why, and what to use instead",
  examples: ["oaas exec shop-order"],
  flags: {},
  positional: optionalArguments("anything", "arguments"),
  load: async () => (await import("./exec.ts")).refuseExec,
});

export const top = command({
  brief: "Show load, present CPU and memory, requirements and recommendations of each function, the busiest first",
  examples: [
    "oaas top",
    "oaas top deployment shop-order",
    "oaas top --cluster edge -o wide",
    "oaas top --package shop -o json",
  ],
  flags: {
    package: packageFlag,
    class: textFlag("only of this class", "key"),
    cluster: clusterFlag,
  },
  positional: optionalArguments(
    "only of KIND NAME… or KIND/NAME…: deployment, package, class, function, class-runtime, cluster",
    "target",
    completeTargets(),
  ),
  load: async () => (await import("./top.ts")).top,
});

export const audit = buildRouteMap({
  docs: { brief: "Read and verify the audit trail: attempted changes and their outcome" },
  aliases: { ls: "list" },
  routes: {
    list: command({
      brief: "List attempted changes, newest first; needs the role admin",
      examples: [
        "oaas audit list",
        "oaas audit list --actor ann --since 24h",
        "oaas audit list --action deletePackage -o json",
      ],
      flags: {
        actor: textFlag("only of this caller: subject or name", "name"),
        action: textFlag("only of this operation, such as deletePackage", "operation"),
        target: textFlag("only targets that contain this text", "text"),
        since: textFlag("only since a time (2026-01-31T12:00:00Z) or for so long (30m, 24h, 7d)", "time"),
        limit: numberFlag("how many; 50 by default", "count"),
      },
      load: async () => (await import("./audit.ts")).listAudit,
    }),
    verify: command({
      brief: "Verify the hash chain of audit lines and name the first broken line",
      examples: ["oaas audit verify audit.jsonl", "oaas audit verify audit.jsonl.* audit.jsonl"],
      flags: {},
      positional: requiredArguments("files with audit lines, oldest first; - for standard input", "file"),
      load: async () => (await import("./audit.ts")).verifyAudit,
    }),
  },
});
