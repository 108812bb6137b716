import { buildRouteMap } from "@stricli/core";
import { completeNames } from "../../command/complete.ts";
import { choiceArgument, command, optionalArgument, requiredArgument } from "../../command/command.ts";
import { parseCount } from "../../command/argument-parsers.ts";
import { booleanFlag, numberFlag, textFlag, yesFlag } from "../../command/flags.ts";

export const login = command({
  brief: "Save the address and token of a package manager and select it",
  examples: [
    "oaas login http://127.0.0.1:8080",
    "oaas login --name production --token-file token https://oaas.example.test",
  ],
  flags: {
    name: { kind: "parsed", parse: String, default: "default", brief: "name of the context", placeholder: "name" },
    token: textFlag("the token; --token-file and the prompt are safer", "token"),
    tokenFile: textFlag("file with the token", "path"),
    noToken: booleanFlag("save no token"),
  },
  positional: optionalArgument("address of the package manager", "url"),
  load: async () => (await import("./contexts.ts")).login,
});

export const contexts = buildRouteMap({
  docs: { brief: "Manage contexts: saved package manager addresses and tokens" },
  aliases: { get: "list", ls: "list", use: "select", rm: "remove" },
  routes: {
    list: command({
      brief: "List contexts",
      examples: ["oaas context list"],
      flags: {},
      load: async () => (await import("./contexts.ts")).listContexts,
    }),
    set: command({
      brief: "Set the address of a context and select it; use login to save a token too",
      examples: ["oaas context set production --pm https://oaas.example.test"],
      flags: { pm: textFlag("address of the package manager", "url") },
      positional: optionalArgument("name of the context", "name", completeNames("context")),
      load: async () => (await import("./contexts.ts")).setContext,
    }),
    select: command({
      brief: "Select the current context",
      examples: ["oaas context select production"],
      flags: {},
      positional: requiredArgument("name of the context", "name", completeNames("context")),
      load: async () => (await import("./contexts.ts")).selectContext,
    }),
    remove: command({
      brief: "Remove a context and its token",
      examples: ["oaas context remove production --yes"],
      flags: { yes: yesFlag },
      aliases: { y: "yes" },
      positional: requiredArgument("name of the context", "name", completeNames("context")),
      load: async () => (await import("./contexts.ts")).removeContext,
    }),
  },
});

export const doctor = command({
  brief: "Check the configuration and the connection to the package manager and its clusters, or a state store",
  examples: ["oaas doctor", "oaas doctor --state-store 127.0.0.1:8081 --collection shop.Cart --partition 0"],
  flags: {
    stateStore: textFlag(
      "check a node of a state store instead: host:port of its gRPC API. Writes objects named oaas.health.doctor… and deletes them",
      "address",
    ),
    collection: textFlag("collection of the state store to write to; the first by default", "name"),
    partition: numberFlag(
      "partition of the collection to write to; the first that the node holds by default",
      "number",
      parseCount,
    ),
  },
  load: async () => (await import("./doctor.ts")).doctor,
});

export const completion = command({
  brief: "Print a shell completion script: commands, flags, values, and names of existing objects",
  examples: [
    "source <(oaas completion bash)",
    "source <(oaas completion zsh)",
    "oaas completion fish > ~/.config/fish/completions/oaas.fish",
  ],
  flags: {},
  positional: choiceArgument("bash, zsh or fish", "shell", "bash", "zsh", "fish"),
  load: async () => (await import("./completion.ts")).completion,
});
