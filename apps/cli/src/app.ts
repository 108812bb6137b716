import {
  buildApplication,
  buildRouteMap,
  generateHelpTextForAllCommands,
  type Application,
  type CommandContext,
} from "@stricli/core";
import { ARGUMENT_MESSAGES } from "./command/argument-parsers.ts";
import type { CliContext } from "./command/command.ts";
import { completion, contexts, doctor, login } from "./commands/configuration/routes.ts";
import { deleteObjects, describe, get, rollout } from "./commands/by-kind/routes.ts";
import { apply, diff, init, plan, validateFiles } from "./commands/files/routes.ts";
import { nfr } from "./commands/nfr/routes.ts";
import { stackRoutes } from "./commands/local-stack/routes.ts";
import { audit, events, exec, explain, invoke, logs, top, wait } from "./commands/observe/routes.ts";
import { objects, state } from "./commands/state/routes.ts";
import { catalogueOf, clusters, deployments, packages, runtimes, topology } from "./commands/resources/routes.ts";

/** The command tree as data. Help, completion and docs/reference/cli.md are generated from it; handlers load on use. */
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
    get,
    describe,
    apply,
    diff,
    delete: deleteObjects,
    rollout,
    plan,
    validate: validateFiles,
    init,
    package: packages,
    deployment: deployments,
    class: catalogueOf("class"),
    function: catalogueOf("function"),
    runtime: runtimes,
    object: objects,
    state,
    cluster: clusters,
    wait,
    events,
    audit,
    nfr,
    explain,
    logs,
    invoke,
    exec,
    top,
    topology,
    login,
    context: contexts,
    ...stackRoutes,
    doctor,
    completion,
  },
});

/** Builds the Stricli application. */
export function application(version: string): Application<CliContext> {
  return buildApplication(root, {
    name: "oaas",
    versionInfo: { currentVersion: version },
    scanner: { caseStyle: "allow-kebab-for-camel" },
    documentation: { disableAnsiColor: true, caseStyle: "convert-camel-to-kebab" },
    localization: { text: ARGUMENT_MESSAGES },
  });
}

/** Every command with its help text, which has no version, for the reference page. */
export function allHelpTexts(): readonly (readonly [string, string])[] {
  return generateHelpTextForAllCommands(application("") as unknown as Application<CommandContext>);
}
