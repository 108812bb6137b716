import { buildRouteMap } from "@stricli/core";
import { parseRevisionOrPrevious } from "../../command/argument-parsers.ts";
import { completeTargets } from "../../command/complete.ts";
import { command, optionalArguments } from "../../command/command.ts";
import {
  booleanFlag,
  clusterFlag,
  filesFlag,
  numberFlag,
  reasonFlag,
  textFlag,
  timeoutFlag,
  yesFlag,
} from "../../command/flags.ts";

const selectionFlags = {
  selector: textFlag("only with these labels: env=edge,zone!=b (clusters: labels; packages: tags)", "labels"),
  fieldSelector: textFlag("only with these fields: package_name=shop,condition!=Running", "fields"),
  allNamespaces: booleanFlag("show the namespaces of deployments and class runtimes; nothing else is in a namespace"),
  namespace: textFlag(
    "only deployments and class runtimes in this namespace of a cluster; nothing else is in a namespace",
    "name",
  ),
  sortBy: textFlag("sort by this field: .created_at", "path"),
  showLabels: booleanFlag("show labels as the last column"),
};

const ignoreNotFound = booleanFlag("exit with 0 if an object does not exist");

export const get = command({
  brief: "Show objects: all of a kind, or those with the given names; exits with 1 if one does not exist",
  examples: [
    "oaas get deployments",
    "oaas get deploy shop-order -o yaml",
    "oaas get pkg/shop deploy/shop-order",
    "oaas get all",
    "oaas get clusters -l env=edge --show-labels",
    "oaas get deployments --field-selector package_name=shop --sort-by .created_at",
    "oaas get deployments --watch",
    "oaas get deployments -o custom-columns=NAME:.key,CLASS:.class_key --no-headers",
    `oaas get deployments -o jsonpath='{range .items[*]}{.key}{"\\n"}{end}'`,
  ],
  flags: {
    ...selectionFlags,
    watch: booleanFlag("then show each object that changes, until Ctrl-C"),
    noHeaders: booleanFlag("leave out the header of tables"),
    ignoreNotFound,
  },
  aliases: { l: "selector", A: "allNamespaces", n: "namespace", w: "watch" },
  positional: optionalArguments(
    "KIND, KIND NAME…, KIND/NAME…, or all; kinds: packages, deployments, class-runtimes, clusters, classes, functions, events, contexts",
    "target",
    completeTargets("all"),
  ),
  load: async () => (await import("./get.ts")).get,
});

export const describe = command({
  brief: "Show objects with what belongs to them: status, revisions, deployments, and why one is not ready",
  examples: ["oaas describe deployment shop-order", "oaas describe pkg/shop", "oaas describe clusters"],
  flags: {},
  positional: optionalArguments("KIND, KIND NAME… or KIND/NAME…", "target", completeTargets()),
  load: async () => (await import("./describe.ts")).describe,
});

export const deleteObjects = command({
  brief: "Delete packages, deployments and clusters by name, or those listed in files, deployments first",
  examples: [
    "oaas delete -f shop.yaml --yes",
    "oaas delete deployment shop-order",
    "oaas delete deploy/shop-order pkg/shop --yes",
  ],
  flags: {
    filename: { ...filesFlag, optional: true },
    cascade: booleanFlag("also delete all other deployments of these packages"),
    cluster: clusterFlag,
    ignoreNotFound,
    yes: yesFlag,
  },
  aliases: { f: "filename", y: "yes" },
  positional: optionalArguments("KIND NAME… or KIND/NAME…", "target", completeTargets()),
  load: async () => (await import("./delete-objects.ts")).deleteObjects,
});

const revised = optionalArguments(
  "deployment/NAME, package/NAME, or the name of a deployment",
  "target",
  completeTargets(),
);

export const rollout = buildRouteMap({
  docs: { brief: "Follow, list and undo roll-outs of deployments and packages" },
  routes: {
    status: command({
      brief: "Follow a deployment until it runs; exits with 1 if the roll-out failed",
      examples: ["oaas rollout status deployment/shop-order", "oaas rollout status deploy/shop-order --watch=false"],
      flags: {
        watch: { kind: "boolean", brief: "follow until the roll-out has ended", default: true },
        timeout: timeoutFlag,
      },
      aliases: { w: "watch" },
      positional: revised,
      load: async () => (await import("./rollouts.ts")).rolloutStatus,
    }),
    history: command({
      brief: "List the revisions of a deployment or package, or show one",
      examples: ["oaas rollout history deployment/shop-order", "oaas rollout history package/shop --revision 2"],
      flags: { revision: numberFlag("show this revision", "revision") },
      positional: revised,
      load: async () => (await import("./rollouts.ts")).rolloutHistory,
    }),
    undo: command({
      brief: "Go back to the previous revision of a deployment or package, or to a given one",
      examples: [
        "oaas rollout undo deployment/shop-order",
        "oaas rollout undo deployment/shop-order --to-revision 1 --reason 'wrong image'",
      ],
      flags: {
        toRevision: numberFlag(
          "the revision to restore; the previous one by default",
          "revision",
          parseRevisionOrPrevious,
        ),
        reason: reasonFlag,
      },
      positional: revised,
      load: async () => (await import("./rollouts.ts")).rolloutUndo,
    }),
  },
});
