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

/** Every command, as data: help, completion and docs/reference/cli.md are made of this. What they do is loaded when called. */
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
  brief: "the revision to go back to",
  placeholder: "revision",
} as const;
/** As the contract has them; a test compares. */
export const TOPICS = ["deployment", "operation", "cluster", "class-runtime", "package"] as const;
const fileAlias = { f: "filename" } as const;
const nameOfPackage = one("the package's name", "name");
const keyOfDeployment = one("the deployment's key", "key");

const applyFlags = {
  filename: { ...files, optional: true as const },
  dryRun: flag("show what would change, with the plan of each deployment, and change nothing"),
  wait: flag("wait until deployments run, showing each cluster"),
  timeout,
  keepGoing: flag("apply the valid documents even if another is not"),
  applyDeployments: flag("also make the deployments that packages carry with them"),
  overridePackage: text("apply it under this name of a package", "name"),
  overwrite: flag("nothing: what exists is always updated. A word of the earlier command line"),
  reason,
};

const apply = command({
  brief: "Apply packages and deployments from files; all are checked before the first is sent",
  examples: [
    "oaas apply -f shop.yaml",
    "oaas package apply shop.yaml",
    "oaas apply -f examples/ --wait",
    "cat shop.yaml | oaas apply -f -",
    "oaas apply -f shop.yaml --dry-run",
  ],
  flags: applyFlags,
  aliases: { ...fileAlias, d: "applyDeployments", p: "overridePackage", O: "overwrite" },
  positional: { kind: "array", parameter: { brief: "the same as --filename", placeholder: "path", parse: String } },
  load: async () => (await import("./commands/apply-files.ts")).applyFiles,
});

const diff = command({
  brief: "Show what applying files would change; ends with 1 when there is something, with 2 when it would be refused",
  examples: ["oaas diff -f shop.yaml"],
  flags: { filename: files },
  aliases: fileAlias,
  load: async () => (await import("./commands/apply-files.ts")).diffFiles,
});

const deleteFiles = command({
  brief: "Delete what files name, deployments first",
  examples: ["oaas delete -f shop.yaml --yes"],
  flags: { filename: files, cascade: flag("also delete deployments of the packages that no file names"), yes },
  aliases: { ...fileAlias, y: "yes" },
  load: async () => (await import("./commands/delete-files.ts")).deleteFiles,
});

const wait = command({
  brief: "Wait until a deployment is as wanted",
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
      placeholder: "what",
    },
    timeout,
  },
  positional: keyOfDeployment,
  load: async () => (await import("./commands/wait.ts")).waitFor,
});

const packages = buildRouteMap({
  docs: { brief: "Packages: classes and functions, kept in revisions" },
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
      flags: { pattern: text("names like this, with * and ?", "pattern"), tag: several("with this tag", "tag") },
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
      flags: { cascade: flag("delete its deployments first"), yes },
      aliases: { y: "yes", d: "cascade" },
      positional: nameOfPackage,
      load: async () => (await import("./commands/packages.ts")).deletePackage,
    }),
    diff: command({
      brief: "Compare two revisions of a package; by default the last two",
      examples: ["oaas package diff shop", "oaas package diff shop --from 1 --to 3"],
      flags: { from: number("the earlier one", "revision"), to: number("the later one", "revision") },
      positional: nameOfPackage,
      load: async () => (await import("./commands/packages.ts")).diffPackage,
    }),
    history: command({
      brief: "List a package's revisions: who, when, why",
      examples: ["oaas package history shop"],
      flags: {},
      positional: nameOfPackage,
      load: async () => (await import("./commands/packages.ts")).packageHistory,
    }),
    rollback: command({
      brief: "Make an earlier revision of a package the current one",
      examples: ["oaas package rollback shop --to 2 --reason 'wrong image'"],
      flags: { to: revision, reason },
      positional: nameOfPackage,
      load: async () => (await import("./commands/packages.ts")).rollBackPackage,
    }),
    validate: command({
      brief: "Check files against the contract, and on the platform as if they were applied",
      examples: ["oaas package validate -f shop.yaml", "oaas package validate -f shop.yaml --offline"],
      flags: { filename: files, offline: flag("against the contract alone, without a platform") },
      aliases: fileAlias,
      load: async () => (await import("./commands/validate.ts")).validateFiles,
    }),
  },
});

const deployments = buildRouteMap({
  docs: { brief: "Deployments: classes that run in clusters" },
  aliases: { a: "apply", ls: "list", rm: "delete", d: "delete", revisions: "history" },
  routes: {
    apply,
    list: command({
      brief: "List deployments",
      examples: ["oaas deployment list", "oaas deployment list --package shop -o wide"],
      flags: {
        package: text("of this package", "name"),
        class: text("of this class", "key"),
        cluster: text("meant for this cluster", "name"),
        condition: word("in this condition", "word", "Pending", "Deploying", "Running", "Down", "Deleted"),
      },
      positional: maybe("only this one", "key"),
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
      brief: "How a deployment is, cluster by cluster",
      examples: ["oaas deployment status shop-order"],
      flags: {},
      positional: keyOfDeployment,
      load: async () => (await import("./commands/deployments.ts")).deploymentStatus,
    }),
    watch: command({
      brief: "Show a roll-out as it happens, cluster by cluster, until Ctrl-C",
      examples: ["oaas deployment watch shop-order", "oaas deployment watch shop-order --until-settled"],
      flags: { untilSettled: flag("end when nothing is under way any more; with 1 when it failed") },
      positional: keyOfDeployment,
      load: async () => (await import("./commands/wait.ts")).watch,
    }),
    explain: command({
      brief: "Why a deployment is not ready: from the class down to the event, with what to do",
      examples: ["oaas deployment explain shop-order", "oaas deployment explain shop-order --cluster edge"],
      flags: { cluster },
      positional: keyOfDeployment,
      load: async () => (await import("./commands/deployments.ts")).explainDeployment,
    }),
    history: command({
      brief: "List what was asked of a deployment, what was planned, what came of it",
      examples: ["oaas deployment history shop-order"],
      flags: {},
      positional: keyOfDeployment,
      load: async () => (await import("./commands/deployments.ts")).deploymentHistory,
    }),
    diff: command({
      brief: "Compare two revisions of a deployment; by default the last two",
      examples: ["oaas deployment diff shop-order"],
      flags: { from: number("the earlier one", "revision"), to: number("the later one", "revision") },
      positional: keyOfDeployment,
      load: async () => (await import("./commands/deployments.ts")).diffDeployment,
    }),
    rollback: command({
      brief: "Bring a deployment back to an earlier revision",
      examples: ["oaas deployment rollback shop-order --to 1"],
      flags: { to: revision, reason },
      positional: keyOfDeployment,
      load: async () => (await import("./commands/deployments.ts")).rollBackDeployment,
    }),
    cancel: command({
      brief: "Stop what is being carried out for a deployment",
      examples: ["oaas deployment cancel shop-order"],
      flags: {},
      positional: keyOfDeployment,
      load: async () => (await import("./commands/deployments.ts")).cancelDeployment,
    }),
    delete: command({
      brief: "Delete a deployment, everywhere or in one cluster",
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
    docs: { brief: what === "class" ? "Classes of all packages" : "Functions of all packages" },
    aliases: { ls: "list", get: "list" },
    routes: {
      list: command({
        brief: what === "class" ? "List classes" : "List functions",
        examples: [`oaas ${what} list`, `oaas ${what} list Order`],
        flags: {},
        positional: maybe("only those whose key has this in it", "filter"),
        load: async () => {
          const { listClasses, listFunctions } = await import("./commands/catalogue.ts");
          return what === "class" ? listClasses : listFunctions;
        },
      }),
    },
  });

const runtimes = buildRouteMap({
  docs: { brief: "Class runtimes: what runs in each cluster" },
  aliases: { ls: "list", get: "list" },
  routes: {
    list: command({
      brief: "List class runtimes, or show one",
      examples: ["oaas runtime list", "oaas runtime list --cluster edge -o wide"],
      flags: { package: text("of this package", "name"), class: text("of this class", "key"), cluster },
      positional: maybe("only this one", "id"),
      load: async () => (await import("./commands/catalogue.ts")).listRuntimes,
    }),
  },
});

const clusters = buildRouteMap({
  docs: { brief: "Clusters that this platform deploys to" },
  aliases: { ls: "list", rm: "remove" },
  routes: {
    list: command({
      brief: "List clusters with their health",
      examples: ["oaas cluster list"],
      flags: {},
      load: async () => (await import("./commands/clusters.ts")).listClusters,
    }),
    health: command({
      brief: "Health of one cluster or of all; ends with 1 when one is not healthy",
      examples: ["oaas cluster health", "oaas cluster health edge"],
      flags: {},
      positional: maybe("only this one", "name"),
      load: async () => (await import("./commands/clusters.ts")).clusterHealth,
    }),
    add: command<
      { label?: readonly string[]; tokenFile?: string; caFile?: string; insecure: boolean },
      [string, string]
    >({
      brief: "Add a cluster by the address of its class runtime manager",
      examples: ["oaas cluster add edge http://127.0.0.1:8088 --label zone=a"],
      flags: {
        label: several("a label, as key=value; may be repeated", "key=value"),
        tokenFile: text("file with the token that the cluster wants", "path"),
        caFile: text("file with the authority of its certificate, where the package manager runs", "path"),
        insecure: flag("do not check its certificate"),
      },
      positional: {
        kind: "tuple",
        parameters: [
          { brief: "the cluster's name", placeholder: "name", parse: named },
          { brief: "address of its class runtime manager", placeholder: "url", parse: named },
        ],
      },
      load: async () => (await import("./commands/clusters.ts")).addCluster,
    }),
    remove: command({
      brief: "Forget a cluster; refused while deployments are in it",
      examples: ["oaas cluster remove edge --yes"],
      flags: { yes },
      aliases: { y: "yes" },
      positional: one("the cluster's name", "name"),
      load: async () => (await import("./commands/clusters.ts")).removeCluster,
    }),
  },
});

const contexts = buildRouteMap({
  docs: { brief: "Platforms that this command line knows" },
  aliases: { get: "list", ls: "list", use: "select", rm: "remove" },
  routes: {
    list: command({
      brief: "List contexts",
      examples: ["oaas context list"],
      flags: {},
      load: async () => (await import("./commands/contexts.ts")).listContexts,
    }),
    set: command({
      brief: "Give a context its address, and use it; as in the earlier command line. login also keeps a token",
      examples: ["oaas context set production --pm https://oaas.example.test"],
      flags: { pm: text("address of the package manager", "url") },
      positional: maybe("its name", "name"),
      load: async () => (await import("./commands/contexts.ts")).setContext,
    }),
    select: command({
      brief: "Make a context the current one",
      examples: ["oaas context select production"],
      flags: {},
      positional: one("its name", "name"),
      load: async () => (await import("./commands/contexts.ts")).selectContext,
    }),
    remove: command({
      brief: "Forget a context and its token",
      examples: ["oaas context remove production --yes"],
      flags: { yes },
      aliases: { y: "yes" },
      positional: one("its name", "name"),
      load: async () => (await import("./commands/contexts.ts")).removeContext,
    }),
  },
});

const root = buildRouteMap({
  docs: { brief: "Deploy classes over clusters and see how they are" },
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
      brief: "What deploying would do, and why; also under assumptions",
      examples: [
        "oaas plan -f shop-order.yaml",
        "oaas plan -f shop-order.yaml --cluster-down edge",
        "oaas plan -f shop-order.yaml --availability 0.9999",
      ],
      flags: {
        filename: files,
        clusterDown: several("assume that this cluster is down; may be repeated", "name"),
        availability: number("assume that this availability is asked for, as a share: 0.999", "share", shareOf),
        revision: number("assume this revision of the package", "revision"),
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
      brief: "Follow what happens",
      examples: [
        "oaas events",
        "oaas events shop-order --topic deployment",
        "oaas events shop.Order",
        "oaas events -o json --count 10",
      ],
      flags: {
        topic: word("deployment, operation, cluster, class-runtime or package", "topic", ...TOPICS),
        count: number("end after so many", "count"),
      },
      positional: maybe("only of this one; a class, written package.Class, stands for its deployments", "key"),
      load: async () => (await import("./commands/events.ts")).followEvents,
    }),
    explain: command({
      brief: "Why a deployment is not ready, or what a field of a file means",
      examples: ["oaas explain shop-order", "oaas explain package.classes.state_spec", "oaas explain deployment"],
      flags: { cluster },
      positional: one("a deployment's key, or package, class, function or deployment with a path below it", "what"),
      load: async () => (await import("./commands/explain.ts")).explain,
    }),
    logs: command({
      brief: "What happened to a class in its clusters, oldest first: wishes, functions, workloads, pods, events",
      examples: [
        "oaas logs shop-order",
        "oaas logs shop.Order --cluster edge --tail 20",
        "oaas logs shop-order --follow",
      ],
      flags: {
        cluster,
        tail: number("only so many of the newest", "count"),
        follow: flag("then follow what happens"),
      },
      positional: one("a deployment's key, or a class written package.Class", "key"),
      load: async () => (await import("./commands/logs.ts")).logs,
    }),
    topology: command({
      brief: "What runs where, as a tree",
      examples: ["oaas topology", "oaas topology -o json"],
      flags: {},
      load: async () => (await import("./commands/catalogue.ts")).topology,
    }),
    login: command({
      brief: "Keep a platform's address and token, and use it from now on",
      examples: [
        "oaas login http://127.0.0.1:8080",
        "oaas login --name production --token-file token https://oaas.example.test",
      ],
      flags: {
        name: { kind: "parsed", parse: String, default: "default", brief: "under which name", placeholder: "name" },
        token: text("the token; a file or the prompt is safer", "token"),
        tokenFile: text("file with the token", "path"),
        noToken: flag("keep no token"),
      },
      positional: maybe("address of the package manager", "url"),
      load: async () => (await import("./commands/contexts.ts")).login,
    }),
    context: contexts,
    ...stackRoutes,
    doctor: command({
      brief: "Look at everything between here and running classes",
      examples: ["oaas doctor"],
      flags: {},
      load: async () => (await import("./commands/doctor.ts")).doctor,
    }),
    completion: command({
      brief: "Print the completion script of a shell",
      examples: ["source <(oaas completion bash)", "oaas completion fish > ~/.config/fish/completions/oaas.fish"],
      flags: {},
      positional: one("bash, zsh or fish", "shell"),
      load: async () => (await import("./commands/completion.ts")).completion,
    }),
  },
});

/** The whole command line. */
export function application(version: string): Application<CliContext> {
  return buildApplication(root, {
    name: "oaas",
    versionInfo: { currentVersion: version },
    scanner: { caseStyle: "allow-kebab-for-camel" },
    documentation: { disableAnsiColor: true, caseStyle: "convert-camel-to-kebab" },
    localization: { text: ARGUMENT_WORDS },
  });
}

/** Each command with the help it prints, for the reference page. */
export function helpOfAll(): readonly (readonly [string, string])[] {
  return generateHelpTextForAllCommands(application("0.1.0") as unknown as Application<CommandContext>);
}
