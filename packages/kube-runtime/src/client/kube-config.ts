import { err, ok, pathOf, ROOT_PATH, type Result, type Violation } from "@oaas/foundation";
import type { ClusterAccess, CredentialSource, ExecPlugin, FileOrData } from "./access.ts";

/** One kubeconfig file parsed from YAML, and the folder that relative file names start from. */
export interface KubeConfigDocument {
  readonly name: string;
  readonly content: unknown;
  readonly resolveFile: (file: string) => string;
}

type Fields = Readonly<Record<string, unknown>>;

interface Named {
  readonly name: string;
  readonly body: Fields;
  readonly document: KubeConfigDocument;
}

/**
 * Merges kubeconfig files as kubectl does: the first file that defines an entry wins, also for `current-context`. Pure.
 *
 * Returns all violations at once, with paths into their file.
 */
export function readKubeConfig(
  documents: readonly KubeConfigDocument[],
  selection: { readonly context?: string; readonly namespace?: string } = {},
): Result<ClusterAccess, readonly Violation[]> {
  const contexts = collect(documents, "contexts", "context");
  const contextName = selection.context ?? firstText(documents, "current-context");
  if (contextName === undefined) {
    return err([
      {
        path: pathOf(ROOT_PATH, "current-context"),
        message: "is not set",
        fix: `choose a context: ${contexts.map(({ name }) => name).join(", ") || "none is defined"}`,
      },
    ]);
  }
  const context = contexts.find(({ name }) => name === contextName);
  if (!context) return err([missing("contexts", contextName, contexts)]);
  const clusters = collect(documents, "clusters", "cluster");
  const users = collect(documents, "users", "user");
  const clusterName = textOf(context.body["cluster"]) ?? "";
  const userName = textOf(context.body["user"]);
  const cluster = clusters.find(({ name }) => name === clusterName);
  const user = users.find(({ name }) => name === userName);
  const violations = [
    ...(cluster ? serverViolations(cluster) : [missing("clusters", clusterName, clusters)]),
    ...(userName === undefined || user ? [] : [missing("users", userName, users)]),
    ...(user ? userViolations(user) : []),
  ];
  if (violations.length > 0 || !cluster) return err(violations);
  return ok(
    accessOf(cluster, user, selection.namespace ?? textOf(context.body["namespace"]) ?? "default", contextName),
  );
}

function accessOf(cluster: Named, user: Named | undefined, namespace: string, contextName: string): ClusterAccess {
  const { body } = cluster;
  const ca = fileOrData(cluster, "certificate-authority");
  const certificate = user && fileOrData(user, "client-certificate");
  const key = user && fileOrData(user, "client-key");
  const serverName = textOf(body["tls-server-name"]);
  const proxyUrl = textOf(body["proxy-url"]);
  const impersonated = user && textOf(user.body["as"]);
  const uid = user && textOf(user.body["as-uid"]);
  return {
    server: (textOf(body["server"]) ?? "").replace(/(?<!\/)\/+$/, ""),
    tls: {
      insecure: body["insecure-skip-tls-verify"] === true,
      ...(ca ? { ca } : {}),
      ...(certificate ? { certificate } : {}),
      ...(key ? { key } : {}),
      ...(serverName === undefined ? {} : { serverName }),
    },
    ...(proxyUrl === undefined ? {} : { proxyUrl }),
    credentials: user ? credentialsOf(user) : { type: "none" },
    ...(impersonated === undefined
      ? {}
      : {
          impersonate: {
            user: impersonated,
            groups: texts(user?.body["as-groups"]),
            ...(uid === undefined ? {} : { uid }),
          },
        }),
    namespace,
    origin: `context "${contextName}" of ${cluster.document.name}`,
  };
}

function credentialsOf(user: Named): CredentialSource {
  const { body } = user;
  const tokenFile = textOf(body["tokenFile"]);
  const token = textOf(body["token"]);
  const username = textOf(body["username"]);
  const exec = body["exec"];
  if (tokenFile !== undefined) return { type: "token-file", file: user.document.resolveFile(tokenFile) };
  if (token !== undefined) return { type: "token", token };
  if (username !== undefined) return { type: "basic", username, password: textOf(body["password"]) ?? "" };
  if (isFields(exec)) return { type: "exec", plugin: execPlugin(exec, user) };
  return { type: "none" };
}

function execPlugin(exec: Fields, user: Named): ExecPlugin {
  const command = textOf(exec["command"]) ?? "";
  const env = (Array.isArray(exec["env"]) ? exec["env"] : []).filter(isFields);
  return {
    apiVersion: textOf(exec["apiVersion"]) ?? "",
    // A bare name is looked up in PATH; a name with a slash is a file.
    command: command.includes("/") ? user.document.resolveFile(command) : command,
    args: texts(exec["args"]),
    env: Object.fromEntries(env.map((pair) => [textOf(pair["name"]) ?? "", textOf(pair["value"]) ?? ""])),
    provideClusterInfo: exec["provideClusterInfo"] === true,
    installHint: textOf(exec["installHint"]),
  };
}

function serverViolations({ name, body }: Named): Violation[] {
  const server = textOf(body["server"]);
  const proxy = textOf(body["proxy-url"]);
  const at = (field: string): string => pathOf(ROOT_PATH, "clusters", name, field);
  const violations: Violation[] = [];
  if (server === undefined) {
    violations.push({ path: at("server"), message: "is not set", fix: "set the address of the API server" });
  } else if (!isWebAddress(server)) {
    const message = `"${server}" is not an http or https address`;
    violations.push({ path: at("server"), message, fix: "write https://host:port" });
  }
  if (proxy !== undefined && !isWebAddress(proxy)) {
    // The address may contain a password, so it is not repeated in the message.
    violations.push({
      path: at("proxy-url"),
      message: "is not an http or https address",
      fix: "write http://host:port",
    });
  }
  return violations;
}

function isWebAddress(text: string): boolean {
  return /^https?:\/\/[^/]+/.test(text) && URL.canParse(text);
}

const EXEC_VERSIONS = ["client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"];

function userViolations({ name, body }: Named): Violation[] {
  const at = (...keys: string[]): string => pathOf(ROOT_PATH, "users", name, ...keys);
  const violations: Violation[] = [];
  const exec = body["exec"];
  if (isFields(exec)) {
    const version = textOf(exec["apiVersion"]);
    if (textOf(exec["command"]) === undefined)
      violations.push({ path: at("exec", "command"), message: "is not set", fix: "name the program to run" });
    if (version === undefined || !EXEC_VERSIONS.includes(version)) {
      violations.push({
        path: at("exec", "apiVersion"),
        message: `"${version ?? ""}" is not supported`,
        fix: `use ${EXEC_VERSIONS.join(" or ")}`,
      });
    }
  }
  if (body["auth-provider"] !== undefined) {
    violations.push({
      path: at("auth-provider"),
      message: "was removed from Kubernetes and is not supported",
      fix: "use the provider's exec plugin",
    });
  }
  const hasCertificate = body["client-certificate"] !== undefined || body["client-certificate-data"] !== undefined;
  const hasKey = body["client-key"] !== undefined || body["client-key-data"] !== undefined;
  if (hasCertificate !== hasKey) {
    violations.push({
      path: at(hasCertificate ? "client-key" : "client-certificate"),
      message: "is missing",
      fix: "a client certificate and its key must be set together",
    });
  }
  return violations;
}

function fileOrData(owner: Named, field: string): FileOrData | undefined {
  const data = textOf(owner.body[`${field}-data`]);
  // The data form wins, as in kubectl.
  if (data !== undefined) return { data };
  const file = textOf(owner.body[field]);
  return file === undefined ? undefined : { file: owner.document.resolveFile(file) };
}

function collect(documents: readonly KubeConfigDocument[], list: string, member: string): Named[] {
  return documents.flatMap((document) => {
    const entries = isFields(document.content) ? document.content[list] : undefined;
    return (Array.isArray(entries) ? entries : []).filter(isFields).map((entry) => ({
      name: textOf(entry["name"]) ?? "",
      body: isFields(entry[member]) ? entry[member] : {},
      document,
    }));
  });
}

function firstText(documents: readonly KubeConfigDocument[], field: string): string | undefined {
  return documents
    .map(({ content }) => (isFields(content) ? textOf(content[field]) : undefined))
    .find((text) => text !== undefined);
}

function missing(list: string, name: string, there: readonly Named[]): Violation {
  return {
    path: pathOf(ROOT_PATH, list),
    message: `has no "${name}"`,
    fix: `defined are: ${there.map((entry) => entry.name).join(", ") || "none"}`,
  };
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** An empty string counts as not set, as in kubectl. */
function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}
