import {
  buildApplication,
  buildRouteMap,
  generateHelpTextForAllCommands,
  type Application,
  type CommandContext,
} from "@stricli/core";
import { ARGUMENT_WORDS, counted, named, oneOf, shareOf } from "./argument-words.ts";
import { cluster, command, duration, files, maybe, one, reason, yes, type CliContext } from "./command.ts";
import { stackRoutes } from "./stack/stack-routes.ts";

/** The command tree as data. Help, completion and docs/reference/cli.md are generated from it; handlers load on use. */
const text = (brief: string, placeholder: string) =>
  ({ kind: "parsed", parse: String, optional: true, brief, placeholder }) as const;
const number = (brief: string, placeholder: string, parse = counted) =>
  ({ kind: "parsed", parse, optional: true, brief, placeholder }) as const;
const word = (brief: string, placeholder: string, ...known: readonly string[]) =>
  ({ kind: "parsed", parse: oneOf(...known), optional: true, brief, placeholder }) as const;
const several = (brief: string, placeholder: string) =>
  ({ kind: "parsed", parse: String, optional: true, variadic: true, brief, placeholder }) as const;
const flag = (brief: string) => ({ kind: "boolean", brief, default: false, withNegated: false }) as const;
const timeout = {
  kind: "parsed",
  parse: duration,
  default: "5m",
  brief: "how long to wait: 90s, 5m, 2h",
  placeholder: "time",
} as const;
const revision = {
  kind: "parsed",
  parse: counted,
  brief: "the revision to restore",
  placeholder: "revision",
} as const;
/** The topics of the REST contract; a test compares them. */
export const TOPICS = ["deployment", "operation", "cluster", "class-runtime", "package"] as const;
const fileAlias = { f: "filename" } as const;
const nameOfPackage = one("name of the package", "name");
const keyOfDeployment = one("key of the deployment", "key");

const applyFlags = {
  filename: { ...files, optional: true as const },
  dryRun: flag("show the changes and the plan of each deployment without applying them"),
  wait: flag("wait until the deployments are running and show the progress in each cluster"),
  timeout,
  keepGoing: flag("apply the valid documents even if others are invalid"),
  applyDeployments: flag("also create the deployments embedded in packages"),
  overridePackage: text("use this package name instead of the one in the file", "name"),
  overwrite: flag("no-op, accepted for compatibility"),
  reason,
};

const apply = command({
  brief: "Create or update packages and deployments from files; all files are validated before the first write",
  examples: [
    "oaas apply -f shop.yaml",
    "oaas package apply shop.yaml",
    "oaas apply -f examples/ --wait",
    "cat shop.yaml | oaas apply -f -",
    "oaas apply -f shop.yaml --dry-run",
  ],
  flags: applyFlags,
  aliases: { ...fileAlias, d: "applyDeployments", p: "overridePackage", O: "overwrite" },
  positional: { kind: "array", parameter: { brief: "same as --filename", placeholder: "path", parse: String } },
  load: async () => (await import("./commands/apply-files.ts")).applyFiles,
});

const diff = command({
  brief: "Show the changes that apply would make; exits with 1 if there are any, with 2 if a file is invalid",
  examples: ["oaas diff -f shop.yaml"],
  flags: { filename: files },
  aliases: fileAlias,
  load: async () => (await import("./commands/apply-files.ts")).diffFiles,
});

const deleteFiles = command({
  brief: "Delete the packages and deployments listed in files, deployments first",
  examples: ["oaas delete -f shop.yaml --yes"],
  flags: {
    filename: files,
    cascade: flag("also delete deployments of these packages that are not listed in the files"),
    yes,
  },
  aliases: { ...fileAlias, y: "yes" },
  load: async () => (await import("./commands/delete-files.ts")).deleteFiles,
});

const wait = command({
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
    timeout,
  },
  positional: keyOfDeployment,
  load: async () => (await import("./commands/wait.ts")).waitFor,
});

const packages = buildRouteMap({
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
        pattern: text("only names that match this pattern, with * and ?", "pattern"),
        tag: several("only with this tag", "tag"),
      },
      load: async () => (await import("./commands/packages.ts")).listPackages,
    }),
    get: command({
      brief: "Show a package",
      examples: ["oaas package get shop", "oaas package get shop -o yaml"],
      flags: {},
      positional: nameOfPackage,
      load: async () => (await import("./commands/packages.ts")).getPackage,
    }),
    delete: command({
      brief: "Delete a package",
      examples: ["oaas package delete shop", "oaas package delete shop --cascade --yes"],
      flags: { cascade: flag("also delete its deployments"), yes },
      aliases: { y: "yes", d: "cascade" },
      positional: nameOfPackage,
      load: async () => (await import("./commands/packages.ts")).deletePackage,
    }),
    diff: command({
      brief: "Compare two revisions of a package; the last two by default",
      examples: ["oaas package diff shop", "oaas package diff shop --from 1 --to 3"],
      flags: { from: number("the older revision", "revision"), to: number("the newer revision", "revision") },
      positional: nameOfPackage,
      load: async () => (await import("./commands/packages.ts")).diffPackage,
    }),
    history: command({
      brief: "List the revisions of a package with author, time and reason",
      examples: ["oaas package history shop"],
      flags: {},
      positional: nameOfPackage,
      load: async () => (await import("./commands/packages.ts")).packageHistory,
    }),
    rollback: command({
      brief: "Restore an earlier revision of a package",
      examples: ["oaas package rollback shop --to 2 --reason 'wrong image'"],
      flags: { to: revision, reason },
      positional: nameOfPackage,
      load: async () => (await import("./commands/packages.ts")).rollBackPackage,
    }),
    validate: command({
      brief: "Validate files against the schema, and with a dry run on the package manager",
      examples: ["oaas package validate -f shop.yaml", "oaas package validate -f shop.yaml --offline"],
      flags: { filename: files, offline: flag("check the schema only, without a package manager") },
      aliases: fileAlias,
      load: async () => (await import("./commands/validate.ts")).validateFiles,
    }),
  },
});

const deployments = buildRouteMap({
  docs: { brief: "Manage deployments: classes that run in clusters" },
  aliases: { a: "apply", ls: "list", rm: "delete", d: "delete", revisions: "history" },
  routes: {
    apply,
    list: command({
      brief: "List deployments",
      examples: ["oaas deployment list", "oaas deployment list --package shop -o wide"],
      flags: {
        package: text("only of this package", "name"),
        class: text("only of this class", "key"),
        cluster: text("only those that target this cluster", "name"),
        condition: word("only in this condition", "condition", "Pending", "Deploying", "Running", "Down", "Deleted"),
      },
      positional: maybe("only this deployment", "key"),
      load: async () => (await import("./commands/deployments.ts")).listDeployments,
    }),
    get: command({
      brief: "Show a deployment",
      examples: ["oaas deployment get shop-order -o yaml"],
      flags: {},
      positional: keyOfDeployment,
      load: async () => (await import("./commands/deployments.ts")).getDeployment,
    }),
    status: command({
      brief: "Show the status of a deployment in each cluster",
      examples: ["oaas deployment status shop-order"],
      flags: {},
      positional: keyOfDeployment,
      load: async () => (await import("./commands/deployments.ts")).deploymentStatus,
    }),
    watch: command({
      brief: "Show the progress of a deployment in each cluster until Ctrl-C",
      examples: ["oaas deployment watch shop-order", "oaas deployment watch shop-order --until-settled"],
      flags: { untilSettled: flag("exit when the rollout has ended; with 1 if it failed") },
      positional: keyOfDeployment,
      load: async () => (await import("./commands/wait.ts")).watch,
    }),
    explain: command({
      brief: "Explain why a deployment is not ready, from the class down to the pod, and suggest a fix",
      examples: ["oaas deployment explain shop-order", "oaas deployment explain shop-order --cluster edge"],
      flags: { cluster },
      positional: keyOfDeployment,
      load: async () => (await import("./commands/deployments.ts")).explainDeployment,
    }),
    history: command({
      brief: "List the revisions of a deployment with plan and outcome",
      examples: ["oaas deployment history shop-order"],
      flags: {},
      positional: keyOfDeployment,
      load: async () => (await import("./commands/deployments.ts")).deploymentHistory,
    }),
    diff: command({
      brief: "Compare two revisions of a deployment; the last two by default",
      examples: ["oaas deployment diff shop-order"],
      flags: { from: number("the older revision", "revision"), to: number("the newer revision", "revision") },
      positional: keyOfDeployment,
      load: async () => (await import("./commands/deployments.ts")).diffDeployment,
    }),
    rollback: command({
      brief: "Roll a deployment back to an earlier revision",
      examples: ["oaas deployment rollback shop-order --to 1"],
      flags: { to: revision, reason },
      positional: keyOfDeployment,
      load: async () => (await import("./commands/deployments.ts")).rollBackDeployment,
    }),
    cancel: command({
      brief: "Cancel the running operation of a deployment",
      examples: ["oaas deployment cancel shop-order"],
      flags: {},
      positional: keyOfDeployment,
      load: async () => (await import("./commands/deployments.ts")).cancelDeployment,
    }),
    delete: command({
      brief: "Delete a deployment from all clusters or from one",
      examples: ["oaas deployment delete shop-order --yes", "oaas deployment delete shop-order --cluster edge"],
      flags: { cluster, yes },
      aliases: { y: "yes" },
      positional: keyOfDeployment,
      load: async () => (await import("./commands/deployments.ts")).deleteDeployment,
    }),
  },
});

const catalogueOf = (what: "class" | "function") =>
  buildRouteMap({
    docs: { brief: what === "class" ? "List the classes of all packages" : "List the functions of all packages" },
    aliases: { ls: "list", get: "list" },
    routes: {
      list: command({
        brief: what === "class" ? "List classes" : "List functions",
        examples: [`oaas ${what} list`, `oaas ${what} list Order`],
        flags: {},
        positional: maybe("only keys that contain this text", "filter"),
        load: async () => {
          const { listClasses, listFunctions } = await import("./commands/catalogue.ts");
          return what === "class" ? listClasses : listFunctions;
        },
      }),
    },
  });

const runtimes = buildRouteMap({
  docs: { brief: "List class runtimes: the classes deployed in each cluster" },
  aliases: { ls: "list", get: "list" },
  routes: {
    list: command({
      brief: "List class runtimes, or show one",
      examples: ["oaas runtime list", "oaas runtime list --cluster edge -o wide"],
      flags: { package: text("only of this package", "name"), class: text("only of this class", "key"), cluster },
      positional: maybe("only this class runtime", "id"),
      load: async () => (await import("./commands/catalogue.ts")).listRuntimes,
    }),
  },
});

const clusters = buildRouteMap({
  docs: { brief: "Manage the clusters that classes are deployed to" },
  aliases: { ls: "list", rm: "remove" },
  routes: {
    list: command({
      brief: "List clusters with their health",
      examples: ["oaas cluster list"],
      flags: {},
      load: async () => (await import("./commands/clusters.ts")).listClusters,
    }),
    health: command({
      brief: "Show the health of one or all clusters; exits with 1 if one is not healthy",
      examples: ["oaas cluster health", "oaas cluster health edge"],
      flags: {},
      positional: maybe("only this cluster", "name"),
      load: async () => (await import("./commands/clusters.ts")).clusterHealth,
    }),
    add: command<
      { label?: readonly string[]; tokenFile?: string; caFile?: string; insecure: boolean },
      [string, string]
    >({
      brief: "Add a cluster by the address of its class runtime manager",
      examples: ["oaas cluster add edge http://127.0.0.1:8088 --label zone=a"],
      flags: {
        label: several("label as key=value; may be repeated", "key=value"),
        tokenFile: text("file with the token for the cluster", "path"),
        caFile: text("CA certificate file, as a path on the machine of the package manager", "path"),
        insecure: flag("do not verify the certificate of the cluster"),
      },
      positional: {
        kind: "tuple",
        parameters: [
          { brief: "name of the cluster", placeholder: "name", parse: named },
          { brief: "address of its class runtime manager", placeholder: "url", parse: named },
        ],
      },
      load: async () => (await import("./commands/clusters.ts")).addCluster,
    }),
    remove: command({
      brief: "Remove a cluster; rejected while deployments use it",
      examples: ["oaas cluster remove edge --yes"],
      flags: { yes },
      aliases: { y: "yes" },
      positional: one("name of the cluster", "name"),
      load: async () => (await import("./commands/clusters.ts")).removeCluster,
    }),
  },
});

const contexts = buildRouteMap({
  docs: { brief: "Manage contexts: saved package manager addresses and tokens" },
  aliases: { get: "list", ls: "list", use: "select", rm: "remove" },
  routes: {
    list: command({
      brief: "List contexts",
      examples: ["oaas context list"],
      flags: {},
      load: async () => (await import("./commands/contexts.ts")).listContexts,
    }),
    set: command({
      brief: "Set the address of a context and select it; use login to save a token too",
      examples: ["oaas context set production --pm https://oaas.example.test"],
      flags: { pm: text("address of the package manager", "url") },
      positional: maybe("name of the context", "name"),
      load: async () => (await import("./commands/contexts.ts")).setContext,
    }),
    select: command({
      brief: "Select the current context",
      examples: ["oaas context select production"],
      flags: {},
      positional: one("name of the context", "name"),
      load: async () => (await import("./commands/contexts.ts")).selectContext,
    }),
    remove: command({
      brief: "Remove a context and its token",
      examples: ["oaas context remove production --yes"],
      flags: { yes },
      aliases: { y: "yes" },
      positional: one("name of the context", "name"),
      load: async () => (await import("./commands/contexts.ts")).removeContext,
    }),
  },
});

const root = buildRouteMap({
  docs: { brief: "Deploy classes to Kubernetes clusters" },
  aliases: {
    pkg: "package",
    p: "package",
    deploy: "deployment",
    dep: "deployment",
    de: "deployment",
    cls: "class",
    c: "class",
    fn: "function",
    f: "function",
    "class-runtimes": "runtime",
    cr: "runtime",
    runtimes: "runtime",
    rts: "runtime",
    environments: "cluster",
    envs: "cluster",
    env: "cluster",
    clu: "cluster",
    cl: "cluster",
    ctx: "context",
  },
  routes: {
    apply,
    diff,
    delete: deleteFiles,
    plan: command({
      brief: "Show which clusters a deployment would use and why, also for what-if assumptions",
      examples: [
        "oaas plan -f shop-order.yaml",
        "oaas plan -f shop-order.yaml --cluster-down edge",
        "oaas plan -f shop-order.yaml --availability 0.9999",
      ],
      flags: {
        filename: files,
        clusterDown: several("assume that this cluster is down; may be repeated", "name"),
        availability: number("assume this target availability, as a fraction: 0.999", "fraction", shareOf),
        revision: number("assume this package revision", "revision"),
      },
      aliases: fileAlias,
      load: async () => (await import("./commands/plan.ts")).plan,
    }),
    package: packages,
    deployment: deployments,
    class: catalogueOf("class"),
    function: catalogueOf("function"),
    runtime: runtimes,
    cluster: clusters,
    wait,
    events: command({
      brief: "Stream events of packages, deployments and clusters",
      examples: [
        "oaas events",
        "oaas events shop-order --topic deployment",
        "oaas events shop.Order",
        "oaas events -o json --count 10",
      ],
      flags: {
        topic: word("deployment, operation, cluster, class-runtime or package", "topic", ...TOPICS),
        count: number("exit after this many events", "count"),
      },
      positional: maybe("only events of this key; package.Class selects all deployments of a class", "key"),
      load: async () => (await import("./commands/events.ts")).followEvents,
    }),
    explain: command({
      brief: "Explain why a deployment is not ready, or describe a field of a file",
      examples: ["oaas explain shop-order", "oaas explain package.classes.state_spec", "oaas explain deployment"],
      flags: { cluster },
      positional: one(
        "a deployment key, or a field path that starts with package, class, function or deployment",
        "subject",
      ),
      load: async () => (await import("./commands/explain.ts")).explain,
    }),
    logs: command({
      brief:
        "Show the history of a class in its clusters: revisions, functions, workloads, pods and events, oldest first",
      examples: [
        "oaas logs shop-order",
        "oaas logs shop.Order --cluster edge --tail 20",
        "oaas logs shop-order --follow",
      ],
      flags: {
        cluster,
        tail: number("only the newest entries, up to this number", "count"),
        follow: flag("keep streaming events after that"),
      },
      positional: one("a deployment key, or a class written as package.Class", "key"),
      load: async () => (await import("./commands/logs.ts")).logs,
    }),
    topology: command({
      brief: "Show packages, classes and clusters as a tree",
      examples: ["oaas topology", "oaas topology -o json"],
      flags: {},
      load: async () => (await import("./commands/catalogue.ts")).topology,
    }),
    login: command({
      brief: "Save the address and token of a package manager and select it",
      examples: [
        "oaas login http://127.0.0.1:8080",
        "oaas login --name production --token-file token https://oaas.example.test",
      ],
      flags: {
        name: { kind: "parsed", parse: String, default: "default", brief: "name of the context", placeholder: "name" },
        token: text("the token; --token-file and the prompt are safer", "token"),
        tokenFile: text("file with the token", "path"),
        noToken: flag("save no token"),
      },
      positional: maybe("address of the package manager", "url"),
      load: async () => (await import("./commands/contexts.ts")).login,
    }),
    context: contexts,
    ...stackRoutes,
    doctor: command({
      brief: "Check the configuration and the connection to the package manager and its clusters",
      examples: ["oaas doctor"],
      flags: {},
      load: async () => (await import("./commands/doctor.ts")).doctor,
    }),
    completion: command({
      brief: "Print a shell completion script",
      examples: ["source <(oaas completion bash)", "oaas completion fish > ~/.config/fish/completions/oaas.fish"],
      flags: {},
      positional: one("bash, zsh or fish", "shell"),
      load: async () => (await import("./commands/completion.ts")).completion,
    }),
  },
});

/** Builds the Stricli application. */
export function application(version: string): Application<CliContext> {
  return buildApplication(root, {
    name: "oaas",
    versionInfo: { currentVersion: version },
    scanner: { caseStyle: "allow-kebab-for-camel" },
    documentation: { disableAnsiColor: true, caseStyle: "convert-camel-to-kebab" },
    localization: { text: ARGUMENT_WORDS },
  });
}

/** Every command with its help text, for the reference page. */
export function helpOfAll(): readonly (readonly [string, string])[] {
  return generateHelpTextForAllCommands(application("0.1.0") as unknown as Application<CommandContext>);
}
