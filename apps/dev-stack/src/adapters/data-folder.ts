import { randomBytes } from "node:crypto";
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { PRIVATE_FILE } from "@oaas/foundation/files";
import { recordText, STATE_FILE, type StackRecord } from "@oaas/stack-folder";
import { parseYamlValue, YAML_FILE_LIMITS } from "@oaas/foundation/yaml";
import { stringify } from "yaml";
import type { StackState } from "../components.ts";

interface KubeConfig {
  readonly clusters: readonly { readonly name: string }[];
  readonly users: readonly { readonly name: string }[];
  readonly contexts: readonly {
    readonly name: string;
    readonly context: { readonly cluster: string; readonly user: string };
  }[];
}

/** Writes one kubeconfig with all clusters of the stack and returns its path. */
export function writeKubeconfig({ clusters }: StackState, dataDir: string): string | undefined {
  const parts = clusters.flatMap(({ kubeconfig, context }) =>
    kubeconfig === undefined ? [] : [selectContext(readKubeconfig(kubeconfig), context)],
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

function readKubeconfig(file: string): KubeConfig {
  const read = parseYamlValue(readFileSync(file, "utf8"), { limits: YAML_FILE_LIMITS });
  if (!read.ok) throw new Error(`${file}: ${read.message}; ${read.fix}`);
  return read.value as KubeConfig;
}

/** Renames the user of a cluster after its context, because two clusters may use the same user name. */
function selectContext({ clusters, users, contexts }: KubeConfig, name: string): KubeConfig {
  const current = contexts.find((context) => context.name === name)?.context;
  return {
    clusters: clusters.filter((one) => one.name === current?.cluster),
    users: users.filter((one) => one.name === current?.user).map((user) => ({ ...user, name })),
    contexts: current === undefined ? [] : [{ name, context: { ...current, user: name } }],
  };
}

/** The key that encrypts secrets in the store of this stack; created with the data folder and reset with it. */
export function readOrCreateKey(dataDir: string): string {
  const file = path.join(dataDir, "encryption.key");
  try {
    writeFileSync(file, `${randomBytes(32).toString("base64")}\n`, { mode: PRIVATE_FILE, flag: "wx" });
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== "EEXIST") throw thrown;
  }
  return readFileSync(file, "utf8").trim();
}

/** Writes the record of this stack to its data folder with mode 0600; returns a function that removes it. */
export function writeRecord(dataDir: string, record: StackRecord): () => void {
  const file = path.join(dataDir, STATE_FILE);
  const next = `${file}.${record.pid}`;
  writeFileSync(next, recordText(record), { mode: 0o600 });
  renameSync(next, file);
  return () => rmSync(file, { force: true });
}
