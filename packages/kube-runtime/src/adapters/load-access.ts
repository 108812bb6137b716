import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";
import { failedPrecondition, invalidArgument, ROOT_PATH } from "@oaas/foundation";
import { parseYamlValue, YAML_FILE_LIMITS } from "@oaas/foundation/yaml";
import type { ClusterAccess } from "../client/access.ts";
import { readKubeConfig, type KubeConfigDocument } from "../client/kube-config.ts";
import { proxyFromEnv } from "./proxy-from-env.ts";

/** Where to look for a cluster. */
export interface AccessOptions {
  /**
   * A kubeconfig file, or several separated as in PATH. Default: KUBECONFIG, then the in-cluster account, then
   * ~/.kube/config.
   */
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly namespace?: string;
  /** The environment: KUBECONFIG, the variables of a Pod, HTTPS_PROXY and NO_PROXY. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The service account folder of a Pod. Overridden only by tests. */
  readonly accountFolder?: string;
}

const ACCOUNT_FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount";

/**
 * Finds the cluster as kubectl and a Pod would. Throws a fault that lists where it looked.
 *
 * A proxy in the kubeconfig takes precedence over one in the environment.
 */
export function loadAccess(options: AccessOptions): ClusterAccess {
  const access = findAccess(options);
  const proxyUrl = access.proxyUrl ?? proxyFromEnv(access.server, options.env);
  return proxyUrl === undefined ? access : { ...access, proxyUrl };
}

function findAccess(options: AccessOptions): ClusterAccess {
  const named = options.kubeconfig ?? options.env["KUBECONFIG"];
  if (named)
    return fromFiles(
      named.split(path.delimiter).filter((file) => file !== ""),
      options,
    );
  const account = inClusterAccess(options);
  if (account && options.context === undefined) return account;
  const standard = path.join(homedir(), ".kube", "config");
  if (existsSync(standard)) return fromFiles([standard], options);
  throw failedPrecondition(
    "kubeconfig",
    `no cluster is configured: KUBECONFIG is not set, this process does not run in a Pod, and ${standard} does not exist`,
  );
}

/** The service account of this Pod, or undefined outside a cluster. Its token is re-read as it rotates. */
function inClusterAccess(options: AccessOptions): ClusterAccess | undefined {
  const host = options.env["KUBERNETES_SERVICE_HOST"];
  const port = options.env["KUBERNETES_SERVICE_PORT"];
  const folder = options.accountFolder ?? ACCOUNT_FOLDER;
  if (!host || !port || !existsSync(path.join(folder, "token"))) return undefined;
  const podNamespace = readFileSync(path.join(folder, "namespace"), "utf8").trim();
  return {
    server: `https://${host.includes(":") ? `[${host}]` : host}:${port}`,
    tls: { insecure: false, ca: { file: path.join(folder, "ca.crt") } },
    credentials: { type: "token-file", file: path.join(folder, "token") },
    namespace: options.namespace ?? podNamespace,
    podNamespace,
    origin: "the service account of this Pod",
  };
}

function fromFiles(files: readonly string[], options: AccessOptions): ClusterAccess {
  const documents = files.map((file) => readDocument(file));
  const result = readKubeConfig(documents, {
    ...(options.context === undefined ? {} : { context: options.context }),
    ...(options.namespace === undefined ? {} : { namespace: options.namespace }),
  });
  if (!result.ok) throw invalidArgument(`kubeconfig ${files.join(", ")}`, result.error);
  return result.value;
}

function readDocument(file: string): KubeConfigDocument {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw failedPrecondition(file, `cannot read kubeconfig ${file}: ${(error as Error).message}`, {
      cause: error,
    });
  }
  return {
    name: file,
    content: parseContent(text, file),
    resolveFile: (relative) => path.resolve(path.dirname(file), relative),
  };
}

function parseContent(text: string, file: string): unknown {
  const read = parseYamlValue(text, { limits: YAML_FILE_LIMITS });
  if (!read.ok)
    throw invalidArgument(`kubeconfig ${file}`, [{ path: ROOT_PATH, message: read.message, fix: read.fix }]);
  return read.value;
}
