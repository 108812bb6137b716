import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parse, stringify } from "yaml";
import type { StackState } from "../parts.ts";

interface KubeConfig {
  readonly clusters: readonly { readonly name: string }[];
  readonly users: readonly { readonly name: string }[];
  readonly contexts: readonly {
    readonly name: string;
    readonly context: { readonly cluster: string; readonly user: string };
  }[];
}

/** Writes one kubeconfig with all clusters of the stack, so that one short line is enough to reach them; answers its path. */
export function joinKubeconfigs({ clusters }: StackState, dataDir: string): string | undefined {
  const parts = clusters.flatMap(({ kubeconfig, context }) =>
    kubeconfig === undefined ? [] : [renamed(parse(readFileSync(kubeconfig, "utf8")) as KubeConfig, context)],
  );
  if (parts.length === 0) return undefined;
  const file = path.join(dataDir, "kubeconfig");
  const joined = {
    apiVersion: "v1",
    kind: "Config",
    clusters: parts.flatMap((part) => part.clusters),
    users: parts.flatMap((part) => part.users),
    contexts: parts.flatMap((part) => part.contexts),
    "current-context": clusters[0]?.context,
  };
  writeFileSync(file, stringify(joined), { mode: 0o600 });
  return file;
}

/** Users of two clusters may be called the same; here each is called after its cluster. */
function renamed({ clusters, users, contexts }: KubeConfig, name: string): KubeConfig {
  const current = contexts.find((context) => context.name === name)?.context;
  return {
    clusters: clusters.filter((one) => one.name === current?.cluster),
    users: users.filter((one) => one.name === current?.user).map((user) => ({ ...user, name })),
    contexts: current === undefined ? [] : [{ name, context: { ...current, user: name } }],
  };
}
