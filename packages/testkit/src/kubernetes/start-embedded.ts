import { readFile, writeFile } from "node:fs/promises";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { internal } from "@oaas/foundation";
import { realClock, realIds, realTimers } from "@oaas/foundation/real";
import {
  embeddedServer,
  type Api,
  type ApiResponse,
  type ApiServer,
  type EmbeddedOptions,
  type User,
} from "@oaas/kube-apiserver";
import { listenHttp, type HttpListener, type TlsOptions } from "@oaas/kube-apiserver/node";
import {
  componentFile,
  eventually,
  kubeconfigText,
  makeAuthority,
  makeRunFolder,
  runCommand,
  type Kubectl,
  type TokenUser,
} from "@oaas/real-components";
import { parseAllDocuments } from "yaml";
import { auditedApi } from "./audited-api.ts";
import type { RestartableProcess } from "./restartable-process.ts";
import type { KubernetesOptions, KubernetesUnderTest } from "./start-kubernetes.ts";
import { StoppableApi } from "./stoppable-api.ts";

const KUBECTL_TIMEOUT_MS = 180_000;

/**
 * Starts the embedded API server in this process with the interface of the real one: TLS, tokens, kubeconfig, kubectl,
 * audit, and parts that can be killed and frozen. It collects garbage like the controller manager, and simulates nodes
 * and workloads like KWOK.
 */
export async function startEmbeddedKubernetes(options: KubernetesOptions = {}): Promise<KubernetesUnderTest> {
  const folder = await makeRunFolder("embedded-kubernetes");
  const token = randomBytes(16).toString("hex");
  const users: readonly TokenUser[] = [{ name: "admin", token, groups: ["system:masters"] }, ...(options.users ?? [])];
  const { kwokNodes = 0, controllerManager = false, audit = false } = options;
  const authority = makeAuthority("embedded");
  const { server } = embeddedServer({
    clock: realClock,
    timers: realTimers,
    ids: realIds,
    collectsGarbage: controllerManager,
    rootCertificates: authority.certificate,
    users: new Map(users.map((user) => [user.token, userOf(user)])),
    ...(kwokNodes === 0 ? {} : { simulation: kwokSimulation(kwokNodes) }),
  });
  await server.start();
  const audited = auditedApi(server, users);
  const stoppable = new StoppableApi(audited.api);
  const issued = authority.issue({ commonName: "kube-apiserver", hosts: ["127.0.0.1", "localhost"] });
  const tls: TlsOptions = { ...issued, authority: authority.certificate };
  const apiServer = await createRestartableListener(stoppable, tls);
  const caFile = join(folder.path, "ca.crt");
  const kubeconfig = join(folder.path, "kubeconfig");
  await writeFile(caFile, authority.certificate);
  await writeFile(kubeconfig, kubeconfigText("test", apiServer.url, authority.certificate, users));
  await installDefinitions(server, token, options.crdFiles ?? []);
  const close = async (): Promise<void> => {
    await server.close();
    await apiServer.kill();
    await folder.remove();
  };
  return {
    url: apiServer.url,
    token,
    caFile,
    kubeconfig,
    kubectl: kubectlIn(kubeconfig, folder.path),
    auditTrail: async () => (audit ? audited.trail() : []),
    etcd: stoppable.store,
    apiServer,
    close,
    [Symbol.asyncDispose]: close,
  };
}

/**
 * Simulates a control plane with KWOK: pods run at once with little status, and third-party kinds have no controllers.
 */
function kwokSimulation(nodes: number): NonNullable<EmbeddedOptions["simulation"]> {
  return { nodes, startDelayMs: 0, containerEvents: false, knative: false };
}

/** The server-side user of a token. */
function userOf({ name, groups = [] }: TokenUser): User {
  return { name, uid: name, groups: [...groups, "system:authenticated"] };
}

/** A listener that can be killed and restarted on its port without losing data, like an API server with its etcd. */
async function createRestartableListener(
  stoppable: StoppableApi,
  tls: TlsOptions,
): Promise<RestartableProcess & { readonly url: string }> {
  let listener: HttpListener | undefined = await listenHttp(stoppable, { tls });
  const { url } = listener;
  return {
    url,
    kill: async () => {
      const running = listener;
      listener = undefined;
      await running?.close();
    },
    start: async () => {
      listener ??= await listenHttp(stoppable, { tls, port: Number(new URL(url).port) });
    },
    freeze: () => stoppable.freeze(),
    thaw: () => stoppable.thaw(),
  };
}

function kubectlIn(kubeconfig: string, folder: string): Kubectl {
  const env = { KUBECONFIG: kubeconfig, HOME: folder };
  return (args, options = {}) =>
    runCommand(componentFile("kubectl"), args, { timeoutMs: KUBECTL_TIMEOUT_MS, ...options, cwd: folder, env });
}

/** Installs CRDs and waits until each is served; without kubectl, so that suites do not need it. */
async function installDefinitions(server: ApiServer, token: string, files: readonly string[]): Promise<void> {
  for (const file of files) {
    for (const document of parseAllDocuments(await readFile(file, "utf8"))) {
      const body = JSON.stringify(document.toJS());
      if (body === "null") continue;
      await install(server, token, body, file);
    }
  }
}

async function install(server: Api, token: string, body: string, file: string): Promise<void> {
  const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  const { name } = (JSON.parse(body) as { readonly metadata: { readonly name: string } }).metadata;
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/apply-patch+yaml" };
  const { signal } = new AbortController();
  const target = `${path}/${name}?fieldManager=kubectl`;
  const answer = await server.handle({ method: "PATCH", target, headers, body, signal });
  if (answer.status > 201) throw internal(`${file} was rejected: ${textOf(answer)}`);
  const isServed = async (): Promise<boolean> => {
    const read = await server.handle({ method: "GET", target: `${path}/${name}`, headers, body: "", signal });
    return /"type":"Established","status":"True"|"status":"True"[^}]*"type":"Established"/.test(textOf(read));
  };
  await eventually(isServed, { what: `${name} being served` });
}

function textOf({ body }: ApiResponse): string {
  return typeof body === "string" ? body : "";
}
