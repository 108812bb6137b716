import { parseFraction } from "../../command/argument-parsers.ts";
import { completeNames } from "../../command/complete.ts";
import { command, optionalArgument } from "../../command/command.ts";
import {
  booleanFlag,
  choiceFlag,
  filesFlag,
  numberFlag,
  reasonFlag,
  repeatedFlag,
  textFlag,
  waitFlags,
} from "../../command/flags.ts";

const fileAlias = { f: "filename" } as const;

const applyFlags = {
  filename: { ...filesFlag, optional: true as const },
  dryRun: booleanFlag("show the changes and the plan of each deployment without applying them"),
  ...waitFlags("wait until the deployments are running and show the progress in each cluster"),
  keepGoing: booleanFlag("apply each document by itself, even if others are invalid"),
  validate: choiceFlag("unknown fields: strict (default), warn or ignore", "mode", "strict", "warn", "ignore"),
  applyDeployments: booleanFlag("also create the deployments embedded in packages"),
  overridePackage: textFlag("use this package name instead of the one in the file", "name"),
  overwrite: booleanFlag("no-op, accepted for compatibility"),
  reason: reasonFlag,
};

export const apply = command({
  brief: "Create or update packages and deployments from files: all of them, or none",
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
  load: async () => (await import("./apply-files.ts")).applyFiles,
});

export const diff = command({
  brief: "Show the changes that apply would make; exits with 1 if there are any, with 2 if a file is invalid",
  examples: ["oaas diff -f shop.yaml", "oaas diff -f shop.yaml --objects"],
  flags: {
    filename: filesFlag,
    objects: booleanFlag(
      "also ask the clusters which Kubernetes objects would change, and show one difference over all",
    ),
  },
  aliases: fileAlias,
  load: async () => (await import("./apply-files.ts")).diffFiles,
});

export const plan = command({
  brief: "Show which clusters a deployment would use and why, also for what-if assumptions",
  examples: [
    "oaas plan -f shop-order.yaml",
    "oaas plan -f shop-order.yaml --cluster-down edge",
    "oaas plan -f shop-order.yaml --cluster-down edge --cluster-down cloud",
    "oaas plan -f shop-order.yaml --availability 0.9999",
    "oaas plan -f shop-order.yaml --objects",
  ],
  flags: {
    filename: filesFlag,
    clusterDown: repeatedFlag(
      "assume that this cluster is down, and show what keeps running; may be repeated",
      "name",
      completeNames("cluster"),
    ),
    availability: numberFlag("assume this target availability, as a fraction: 0.999", "fraction", parseFraction),
    revision: numberFlag("assume this package revision", "revision"),
    objects: booleanFlag("also ask the clusters which Kubernetes objects would be created, changed and deleted"),
  },
  aliases: fileAlias,
  load: async () => (await import("./plan.ts")).plan,
});

export const validateFiles = command({
  brief: "Validate files against the schema, and with a dry run on the package manager",
  examples: ["oaas validate -f shop.yaml", "oaas validate -f shop.yaml --offline"],
  flags: { filename: filesFlag, offline: booleanFlag("check the schema only, without a package manager") },
  aliases: fileAlias,
  load: async () => (await import("./validate-files.ts")).validateFiles,
});

export const init = command({
  brief: "Write a commented package and deployment; asks for what the flags do not say",
  examples: [
    "oaas init",
    "oaas init shop --name shop --class Order --function place --function cancel",
    "oaas init --yes --state none --cluster edge --cluster cloud",
  ],
  flags: {
    name: textFlag("name of the package; also the key of the deployment", "name"),
    class: textFlag("name of the class", "name"),
    function: repeatedFlag("name of a function; may be repeated", "name"),
    image: repeatedFlag("container image of a function, in the order of the functions; may be repeated", "image"),
    state: choiceFlag(
      "none, or the consistency of the state: READ_YOUR_WRITE, BOUNDED_STALENESS, STRONG",
      "consistency",
      "none",
      "READ_YOUR_WRITE",
      "BOUNDED_STALENESS",
      "STRONG",
    ),
    cluster: repeatedFlag("cluster to use; may be repeated", "name", completeNames("cluster")),
    availability: numberFlag("target availability, as a fraction: 0.999", "fraction", parseFraction),
    force: booleanFlag("overwrite existing files"),
    yes: booleanFlag("ask nothing; use the defaults"),
  },
  aliases: { y: "yes" },
  positional: optionalArgument("folder of package.yaml and deployment.yaml; the current one by default", "folder"),
  load: async () => (await import("./init.ts")).init,
});
