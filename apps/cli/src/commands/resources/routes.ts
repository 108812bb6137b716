import { CONDITION_WORDS, pascalCase } from "@oaas/contracts/health";
import { buildRouteMap } from "@stricli/core";
import { parseDecimal, parseDuration, parseFraction, parseNonEmpty } from "../../command/argument-parsers.ts";
import { completeNames } from "../../command/complete.ts";
import { command, deploymentArgument, optionalArgument, requiredArgument } from "../../command/command.ts";
import {
  booleanFlag,
  choiceFlag,
  clusterFlag,
  numberFlag,
  packageFlag,
  reasonFlag,
  repeatedFlag,
  revisionFlag,
  textFlag,
  timeoutFlag,
  waitFlags,
  yesFlag,
} from "../../command/flags.ts";
import { apply, validateFiles } from "../files/routes.ts";
import type { AddClusterFlags } from "./clusters.ts";

const nameOfPackage = requiredArgument("name of the package", "name", completeNames("package"));
const keyOfDeployment = deploymentArgument();

export const packages = buildRouteMap({
  docs: { brief: "Manage packages: versioned sets of classes and functions" },
  aliases: {
    a: "apply",
    create: "apply",
    c: "apply",
    rm: "delete",
    d: "delete",
    r: "delete",
    ls: "list",
    revisions: "history",
  },
  routes: {
    apply,
    list: command({
      brief: "List packages",
      examples: ["oaas package list", "oaas package list --pattern 'shop*' -o wide"],
      flags: {
        pattern: textFlag("only names that match this pattern, with * and ?", "pattern"),
        tag: repeatedFlag("only with this tag", "tag"),
      },
      load: async () => (await import("./packages.ts")).listPackages,
    }),
    get: command({
      brief: "Show a package",
      examples: ["oaas package get shop", "oaas package get shop -o yaml"],
      flags: {},
      positional: nameOfPackage,
      load: async () => (await import("./packages.ts")).getPackage,
    }),
    delete: command({
      brief: "Delete a package",
      examples: ["oaas package delete shop", "oaas package delete shop --cascade --yes"],
      flags: { cascade: booleanFlag("also delete its deployments"), yes: yesFlag },
      aliases: { y: "yes", d: "cascade" },
      positional: nameOfPackage,
      load: async () => (await import("./packages.ts")).deletePackage,
    }),
    diff: command({
      brief: "Compare two revisions of a package; the last two by default",
      examples: ["oaas package diff shop", "oaas package diff shop --from 1 --to 3"],
      flags: { from: numberFlag("the older revision", "revision"), to: numberFlag("the newer revision", "revision") },
      positional: nameOfPackage,
      load: async () => (await import("./packages.ts")).diffPackage,
    }),
    history: command({
      brief: "List the revisions of a package with author, time and reason",
      examples: ["oaas package history shop"],
      flags: {},
      positional: nameOfPackage,
      load: async () => (await import("./packages.ts")).packageHistory,
    }),
    rollback: command({
      brief: "Restore an earlier revision of a package",
      examples: ["oaas package rollback shop", "oaas package rollback shop --to 2 --reason 'wrong image'"],
      flags: { to: revisionFlag, reason: reasonFlag, yes: yesFlag },
      aliases: { y: "yes" },
      positional: nameOfPackage,
      load: async () => (await import("./rollback.ts")).rollBackPackage,
    }),
    validate: validateFiles,
  },
});

const nameOfWindow = requiredArgument("name of the window", "name");

const freezes = buildRouteMap({
  docs: { brief: "Manage freeze windows: times in which clusters, or the whole platform, are not changed" },
  aliases: { ls: "list", rm: "delete" },
  routes: {
    list: command({
      brief: "List the freeze windows with their present state",
      examples: ["oaas cluster freeze list"],
      flags: {},
      load: async () => (await import("./freeze.ts")).listFreezeWindows,
    }),
    set: command({
      brief: "Create or replace a freeze window, once or by a schedule; needs the role admin",
      examples: [
        "oaas cluster freeze set year-end --start 2026-12-23T00:00:00Z --end 2027-01-02T00:00:00Z --reason 'year end'",
        "oaas cluster freeze set weekend --cluster edge --schedule '0 18 * * 5' --duration 62h --time-zone Europe/Berlin",
      ],
      flags: {
        cluster: repeatedFlag("only this cluster; may be repeated; by default the whole platform", "name"),
        start: textFlag("when it begins: 2026-12-23T00:00:00Z", "time"),
        end: textFlag("when it ends", "time"),
        schedule: textFlag("when it begins, as in a CronJob: minute hour day month weekday", "cron"),
        duration: numberFlag("how long each occurrence lasts: 90m, 62h", "duration", parseDuration),
        timeZone: textFlag("time zone of the schedule; UTC by default", "zone"),
        reason: reasonFlag,
      },
      positional: nameOfWindow,
      load: async () => (await import("./freeze.ts")).setFreezeWindow,
    }),
    delete: command({
      brief: "Delete a freeze window; one that is active ends",
      examples: ["oaas cluster freeze delete weekend --yes"],
      flags: { yes: yesFlag },
      aliases: { y: "yes" },
      positional: nameOfWindow,
      load: async () => (await import("./freeze.ts")).deleteFreezeWindow,
    }),
  },
});

export const deployments = buildRouteMap({
  docs: { brief: "Manage deployments: classes that run in clusters" },
  aliases: { a: "apply", ls: "list", rm: "delete", d: "delete", revisions: "history" },
  routes: {
    apply,
    list: command({
      brief: "List deployments",
      examples: ["oaas deployment list", "oaas deployment list --package shop -o wide"],
      flags: {
        package: packageFlag,
        class: textFlag("only of this class", "key"),
        cluster: textFlag("only those that target this cluster", "name", completeNames("cluster")),
        condition: choiceFlag("only in this condition", "condition", ...Object.keys(CONDITION_WORDS).map(pascalCase)),
      },
      positional: optionalArgument("only this deployment", "key", completeNames("deployment")),
      load: async () => (await import("./deployments.ts")).listDeployments,
    }),
    get: command({
      brief: "Show a deployment",
      examples: ["oaas deployment get shop-order -o yaml"],
      flags: {},
      positional: keyOfDeployment,
      load: async () => (await import("./deployments.ts")).getDeployment,
    }),
    status: command({
      brief: "Show the status of a deployment in each cluster",
      examples: ["oaas deployment status shop-order"],
      flags: {},
      positional: keyOfDeployment,
      load: async () => (await import("./deployments.ts")).deploymentStatus,
    }),
    watch: command({
      brief: "Show the progress of a deployment in each cluster until Ctrl-C",
      examples: ["oaas deployment watch shop-order", "oaas deployment watch shop-order --until-settled"],
      flags: { untilSettled: booleanFlag("exit when the rollout has ended; with 1 if it failed") },
      positional: keyOfDeployment,
      load: async () => (await import("../observe/wait.ts")).watch,
    }),
    explain: command({
      brief: "Explain why a deployment is not ready, from the class down to the pod, and suggest a fix",
      examples: ["oaas deployment explain shop-order", "oaas deployment explain shop-order --cluster edge"],
      flags: { cluster: clusterFlag },
      positional: keyOfDeployment,
      load: async () => (await import("../observe/explain.ts")).explainDeployment,
    }),
    history: command({
      brief: "List the revisions of a deployment with plan and outcome",
      examples: ["oaas deployment history shop-order"],
      flags: {},
      positional: keyOfDeployment,
      load: async () => (await import("./deployments.ts")).deploymentHistory,
    }),
    diff: command({
      brief: "Compare two revisions of a deployment; the last two by default",
      examples: ["oaas deployment diff shop-order"],
      flags: { from: numberFlag("the older revision", "revision"), to: numberFlag("the newer revision", "revision") },
      positional: keyOfDeployment,
      load: async () => (await import("./deployments.ts")).diffDeployment,
    }),
    rollback: command({
      brief: "Roll a deployment back to an earlier revision",
      examples: ["oaas deployment rollback shop-order", "oaas deployment rollback shop-order --to 1 --wait"],
      flags: {
        to: revisionFlag,
        reason: reasonFlag,
        yes: yesFlag,
        ...waitFlags("wait until the deployment is running and show the progress in each cluster"),
      },
      aliases: { y: "yes" },
      positional: keyOfDeployment,
      load: async () => (await import("./rollback.ts")).rollBackDeployment,
    }),
    replan: command({
      brief: "Apply the new plan that the status of a deployment proposes",
      examples: ["oaas deployment replan shop-order", "oaas deployment replan shop-order --digest 0123abcd --yes"],
      flags: {
        digest: textFlag("digest of the plan; the proposed one by default", "digest"),
        reason: reasonFlag,
        yes: yesFlag,
      },
      aliases: { y: "yes" },
      positional: keyOfDeployment,
      load: async () => (await import("./replan.ts")).replanDeployment,
    }),
    pause: command({
      brief: "Pause a deployment: until the pause ends, nothing changes its clusters, except its deletion",
      examples: [
        "oaas deployment pause shop-order --for 2h --reason 'release of the customer'",
        "oaas deployment pause shop-order --until 2026-12-01T08:00:00Z",
      ],
      flags: {
        for: numberFlag("how long: 30m, 2h", "duration", parseDuration),
        until: textFlag("when the pause ends: 2026-12-01T08:00:00Z", "time"),
        reason: reasonFlag,
      },
      positional: keyOfDeployment,
      load: async () => (await import("./pause.ts")).pauseDeployment,
    }),
    resume: command({
      brief: "End the pause of a deployment",
      examples: ["oaas deployment resume shop-order"],
      flags: {},
      positional: keyOfDeployment,
      load: async () => (await import("./pause.ts")).resumeDeployment,
    }),
    cancel: command({
      brief: "Cancel the running operation of a deployment",
      examples: ["oaas deployment cancel shop-order"],
      flags: {},
      positional: keyOfDeployment,
      load: async () => (await import("./deployments.ts")).cancelDeployment,
    }),
    delete: command({
      brief: "Delete a deployment from all clusters or from one",
      examples: ["oaas deployment delete shop-order --yes", "oaas deployment delete shop-order --cluster edge"],
      flags: {
        cluster: clusterFlag,
        yes: yesFlag,
        wait: booleanFlag("wait until every cluster has accepted the deletion"),
        timeout: timeoutFlag,
      },
      aliases: { y: "yes" },
      positional: keyOfDeployment,
      load: async () => (await import("./deployments.ts")).deleteDeployment,
    }),
  },
});

export const catalogueOf = (what: "class" | "function") =>
  buildRouteMap({
    docs: { brief: what === "class" ? "List the classes of all packages" : "List the functions of all packages" },
    aliases: { ls: "list", get: "list" },
    routes: {
      list: command({
        brief: what === "class" ? "List classes" : "List functions",
        examples: [`oaas ${what} list`, `oaas ${what} list Order`],
        flags: {},
        positional: optionalArgument("only keys that contain this text", "filter", completeNames(what)),
        load: async () => {
          const { listClasses, listFunctions } = await import("./catalogue.ts");
          return what === "class" ? listClasses : listFunctions;
        },
      }),
    },
  });

export const runtimes = buildRouteMap({
  docs: { brief: "List class runtimes: the classes deployed in each cluster" },
  aliases: { ls: "list", get: "list" },
  routes: {
    list: command({
      brief: "List class runtimes, or show one",
      examples: ["oaas runtime list", "oaas runtime list --cluster edge -o wide"],
      flags: {
        package: packageFlag,
        class: textFlag("only of this class", "key"),
        cluster: clusterFlag,
      },
      positional: optionalArgument("only this class runtime", "id", completeNames("class-runtime")),
      load: async () => (await import("./catalogue.ts")).listRuntimes,
    }),
  },
});

export const clusters = buildRouteMap({
  docs: { brief: "Manage the clusters that classes are deployed to" },
  aliases: { ls: "list", rm: "remove" },
  routes: {
    freeze: freezes,
    list: command({
      brief: "List clusters with their health",
      examples: ["oaas cluster list"],
      flags: {},
      load: async () => (await import("./clusters.ts")).listClusters,
    }),
    health: command({
      brief: "Show the health of one or all clusters; exits with 1 if one is not healthy",
      examples: ["oaas cluster health", "oaas cluster health edge"],
      flags: {},
      positional: optionalArgument("only this cluster", "name", completeNames("cluster")),
      load: async () => (await import("./clusters.ts")).clusterHealth,
    }),
    availability: command({
      brief: "Compare the promised availability of a cluster with the measured one",
      examples: ["oaas cluster availability edge"],
      flags: {},
      positional: requiredArgument("name of the cluster", "name", completeNames("cluster")),
      load: async () => (await import("./cluster-availability.ts")).clusterAvailability,
    }),
    add: command<AddClusterFlags, [string, string]>({
      brief: "Add a cluster by the address of its class runtime manager",
      examples: [
        "oaas cluster add edge http://127.0.0.1:8088 --label zone=a",
        "oaas cluster add edge http://127.0.0.1:8088 --availability 0.999 --availability-source 'SLA of the provider' --availability-date 2026-01-31",
      ],
      flags: {
        label: repeatedFlag("label as key=value; may be repeated", "key=value"),
        tokenFile: textFlag("file with the token for the cluster", "path"),
        caFile: textFlag("CA certificate file, as a path on the machine of the package manager", "path"),
        insecure: booleanFlag("do not verify the certificate of the cluster"),
        availability: numberFlag("promised availability, as a fraction: 0.999", "fraction", parseFraction),
        availabilitySource: textFlag("where the promise comes from, such as a contract", "text"),
        availabilityDate: textFlag("day of the promise: YYYY-MM-DD", "date"),
        availabilityWeight: numberFlag("hours of observation that the promise counts as (168)", "hours", parseDecimal),
        cpuHour: numberFlag("price of one requested CPU core for one hour", "price", parseDecimal),
        gibHour: numberFlag("price of one requested GiB of memory for one hour", "price", parseDecimal),
        currency: textFlag("currency of the prices, such as EUR", "code"),
        namespace: textFlag("namespace of units whose deployment and package state none", "name"),
        allowNamespace: repeatedFlag("namespace that deployments may use; may be repeated (all)", "name"),
      },
      positional: {
        kind: "tuple",
        parameters: [
          { brief: "name of the cluster", placeholder: "name", parse: parseNonEmpty },
          { brief: "address of its class runtime manager", placeholder: "url", parse: parseNonEmpty },
        ],
      },
      load: async () => (await import("./clusters.ts")).addCluster,
    }),
    cordon: command({
      brief: "Keep new units out of a cluster; existing units stay",
      examples: ["oaas cluster cordon edge --reason 'kernel update'"],
      flags: { reason: reasonFlag },
      positional: requiredArgument("name of the cluster", "name", completeNames("cluster")),
      load: async () => (await import("./clusters.ts")).cordonCluster,
    }),
    drain: command({
      brief: "Cordon a cluster and move its units away one by one; uncordon stops it",
      examples: ["oaas cluster drain edge --reason 'kernel update' --wait", "oaas cluster drain edge --status"],
      flags: {
        reason: reasonFlag,
        allowStateLoss: booleanFlag("also move classes with state, although stored objects may be lost"),
        status: booleanFlag("only show the progress"),
        wait: booleanFlag("wait until the cluster is drained, or only blocked deployments are left"),
        timeout: timeoutFlag,
      },
      positional: requiredArgument("name of the cluster", "name", completeNames("cluster")),
      load: async () => (await import("./drain.ts")).drainCluster,
    }),
    uncordon: command({
      brief: "Allow new units in a cordoned cluster again",
      examples: ["oaas cluster uncordon edge"],
      flags: {},
      positional: requiredArgument("name of the cluster", "name", completeNames("cluster")),
      load: async () => (await import("./clusters.ts")).uncordonCluster,
    }),
    remove: command({
      brief: "Remove a cluster; rejected while deployments use it",
      examples: ["oaas cluster remove edge --yes"],
      flags: { yes: yesFlag },
      aliases: { y: "yes" },
      positional: requiredArgument("name of the cluster", "name", completeNames("cluster")),
      load: async () => (await import("./clusters.ts")).removeCluster,
    }),
  },
});

export const topology = command({
  brief: "Show packages, classes and clusters as a tree",
  examples: ["oaas topology", "oaas topology -o json"],
  flags: {},
  load: async () => (await import("./catalogue.ts")).topology,
});
