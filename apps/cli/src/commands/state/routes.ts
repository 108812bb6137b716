import { buildRouteMap } from "@stricli/core";
import { parseCount, parseNonEmpty } from "../../command/argument-parsers.ts";
import { command, deploymentArgument } from "../../command/command.ts";
import { completeDeployment, completeNames } from "../../command/complete.ts";
import { booleanFlag, numberFlag, repeatedFlag, textFlag, yesFlag } from "../../command/flags.ts";
import { parseDeploymentKey } from "../../command/kinds.ts";
import { PARTITION_RULES } from "../../state-copy/mapping.ts";

const placeFlags = {
  collection: textFlag("the collection; not needed if there is only one", "name"),
  partition: numberFlag("the partition; not needed if the object exists in one only", "number", parseCount),
  cluster: textFlag("ask this cluster; by default one that holds the partition", "name", completeNames("cluster")),
};

const objectArguments = {
  kind: "tuple",
  parameters: [
    {
      brief: "a deployment",
      placeholder: "deployment",
      parse: parseDeploymentKey,
      proposeCompletions: completeDeployment,
    },
    { brief: "the id of the object", placeholder: "id", parse: parseNonEmpty },
  ],
} as const;

export const objects = buildRouteMap({
  docs: { brief: "Look at the objects of a deployment, and change single ones" },
  aliases: { ls: "list", rm: "delete" },
  routes: {
    list: command({
      brief: "List the objects of a deployment, partition by partition",
      examples: [
        "oaas object list shop-cart",
        "oaas object list shop-cart --prefix user-7 -o wide",
        "oaas object list shop-cart --partition 3 --limit 0 -o name",
      ],
      flags: {
        ...placeFlags,
        partition: numberFlag("only this partition", "number", parseCount),
        prefix: textFlag("only ids that start with this text", "text"),
        limit: numberFlag("how many; 1000 by default, 0 for all", "count", parseCount),
      },
      positional: deploymentArgument(),
      load: async () => (await import("./objects.ts")).listObjects,
    }),
    get: command({
      brief: "Show an object with its entries; the value may be older than the last write",
      examples: ["oaas object get shop-cart user-7", "oaas object get shop-cart user-7 --partition 3 -o json"],
      flags: placeFlags,
      positional: objectArguments,
      load: async () => (await import("./objects.ts")).getObject,
    }),
    set: command({
      brief: "Create or replace an object; its triggers are removed",
      examples: [
        `oaas object set shop-cart user-7 --partition 3 --data '{"entries": {"total": {"json": 3}}}'`,
        "oaas object get shop-cart user-7 -o yaml > object.yaml; oaas object set shop-cart user-7 -f object.yaml",
      ],
      flags: {
        ...placeFlags,
        data: textFlag("the entries as JSON", "json"),
        file: textFlag("file with the entries in JSON or YAML, or - for standard input", "path"),
      },
      aliases: { d: "data", f: "file" },
      positional: objectArguments,
      load: async () => (await import("./objects.ts")).setObject,
    }),
    delete: command({
      brief: "Delete an object",
      examples: ["oaas object delete shop-cart user-7", "oaas object delete shop-cart user-7 --partition 3 --yes"],
      flags: { ...placeFlags, yes: yesFlag },
      aliases: { y: "yes" },
      positional: objectArguments,
      load: async () => (await import("./objects.ts")).deleteObject,
    }),
  },
});

export const state = buildRouteMap({
  docs: { brief: "Copy the objects of a deployment: to move, reshard, back up and restore them" },
  routes: {
    copy: command({
      brief:
        "Copy the objects of a deployment or a file to another one, until a pass finds both equal; repeat it to continue after an interruption. Writers must be stopped; triggers are not copied",
      examples: [
        "oaas state copy shop-cart file:shop-cart.ndjson",
        "oaas state copy file:shop-cart.ndjson shop-cart",
        "oaas state copy shop-cart shop-cart-2 --partition-by id-hash",
        "oaas state copy shop-cart shop-cart-2 --collection orders=carts --overwrite",
      ],
      flags: {
        collection: repeatedFlag("a collection, or SOURCE=DESTINATION; may be repeated; all by default", "name"),
        partitionBy: {
          kind: "enum",
          values: PARTITION_RULES,
          default: "modulo",
          brief: "partition in the destination: that of the source modulo their number, or a hash of the id",
        },
        overwrite: booleanFlag("replace objects that have other entries in the destination, or the file"),
        deleteExtra: booleanFlag("delete objects that only the destination has"),
        yes: yesFlag,
        passes: {
          ...numberFlag("copying passes at most while the source changes", "count"),
          optional: false,
          default: "5",
        },
        concurrency: { ...numberFlag("objects at the same time", "count"), optional: false, default: "8" },
      },
      aliases: { y: "yes" },
      positional: {
        kind: "tuple",
        parameters: [
          {
            brief: "a deployment, or file:PATH",
            placeholder: "source",
            parse: parseNonEmpty,
            proposeCompletions: completeDeployment,
          },
          {
            brief: "a deployment, or file:PATH",
            placeholder: "destination",
            parse: parseNonEmpty,
            proposeCompletions: completeDeployment,
          },
        ],
      },
      load: async () => (await import("./copy.ts")).copy,
    }),
  },
});
