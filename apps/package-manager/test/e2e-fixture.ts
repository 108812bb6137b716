import { readdirSync } from "node:fs";
import path from "node:path";
import {
  eventually,
  freePorts,
  makeRunFolder,
  startKubernetes,
  startProcess,
  untilReady,
  type KubernetesUnderTest,
  type ProcessUnderTest,
  type RunFolder,
} from "@oaas/testkit";

const ROOT = path.resolve(import.meta.dirname, "..", "..", "..");
const CRDS = path.join(ROOT, "deploy", "crds");
const CRM = path.join(ROOT, "apps", "class-runtime-manager", "src", "main.ts");

/** The kinds that a class may leave behind. Kubernetes keeps events for an hour, so they are not compared. */
const KINDS = [
  "classruntimes.oaas.io,deploymentrecords.oaas.io,deployments,statefulsets,daemonsets,replicasets,jobs,pods,services",
  "endpointslices,configmaps,secrets,serviceaccounts,persistentvolumeclaims,horizontalpodautoscalers",
  "poddisruptionbudgets,networkpolicies,leases",
].join(",");

const IMAGE_PATH = "/spec/functions/0/provision_config/container_image";
const IMAGE_JSONPATH = ".spec.functions[0].provision_config.container_image";

/** A class runtime manager as a process, always on the same port. */
export interface CrmProcess {
  readonly name: string;
  readonly url: string;
  /** Ready when it resolves. */
  start(): Promise<void>;
  /** Kills, stops or continues the process. */
  signal(signal: "SIGKILL" | "SIGSTOP" | "SIGCONT"): Promise<void>;
}

/** Two clusters: two namespaces of one real API server, each with its own class runtime manager. */
export interface TwoClusters extends AsyncDisposable {
  readonly folder: string;
  readonly clusters: readonly [CrmProcess, CrmProcess];
  /** The objects of one cluster as `kind/name`, sorted. */
  contents(cluster: string): Promise<readonly string[]>;
  /** The images of the class's functions in one cluster. */
  images(cluster: string): Promise<readonly string[]>;
  /** Changes the image of the first function of a class runtime with `kubectl patch`. */
  patch(cluster: string, name: string, image: string): Promise<void>;
  /** The desired image of the first function of a class runtime. */
  desiredImage(cluster: string, name: string): Promise<string>;
}

export async function startTwoClusters(): Promise<TwoClusters> {
  const folder = await makeRunFolder("pm-e2e");
  const crdFiles = readdirSync(CRDS).map((file) => path.join(CRDS, file));
  const kube = await startKubernetes({ controllerManager: true, scheduler: true, kwokNodes: 2, crdFiles });
  const lines = async (...args: string[]): Promise<string[]> =>
    (await kube.kubectl(args)).stdout.split(/\s+/).filter(Boolean).toSorted();
  const [east, west] = await freePorts(2);
  await kube.kubectl(["create", "namespace", "east"]);
  await kube.kubectl(["create", "namespace", "west"]);
  // Wait for the objects that Kubernetes adds to every namespace.
  for (const namespace of ["east", "west"]) {
    const own = ["serviceaccount/default", "configmap/kube-root-ca.crt"];
    await eventually(() => kube.kubectl(["get", "-n", namespace, ...own]), { what: `all of namespace ${namespace}` });
  }
  const clusters = [crmOf("east", east ?? 0, kube, folder), crmOf("west", west ?? 0, kube, folder)] as const;
  await Promise.all(clusters.map((crm) => crm.start()));
  return {
    folder: folder.path,
    clusters,
    contents: (cluster) => lines("get", KINDS, "-n", cluster, "-o", "name"),
    images: (cluster) =>
      lines(
        "get",
        "deployments",
        "-n",
        cluster,
        "-o",
        "jsonpath={.items[*].spec.template.spec.containers[?(@.name=='function')].image}",
      ),
    patch: async (cluster, name, image) => {
      const change = { op: "replace", path: IMAGE_PATH, value: image };
      await kube.kubectl(["patch", "crt", name, "-n", cluster, "--type=json", "-p", JSON.stringify([change])]);
    },
    desiredImage: async (cluster, name) =>
      (await kube.kubectl(["get", "crt", name, "-n", cluster, "-o", `jsonpath={${IMAGE_JSONPATH}}`])).stdout,
    [Symbol.asyncDispose]: async () => {
      await Promise.all(clusters.map((crm) => crm.signal("SIGKILL")));
      await kube.close();
      await folder.remove();
    },
  };
}

/** One real API server with a class runtime manager that serves and creates all namespaces. */
export interface OneCluster extends AsyncDisposable {
  readonly folder: string;
  readonly crm: CrmProcess;
  /** The output of kubectl. */
  kubectl(...args: string[]): Promise<string>;
}

export async function startOneCluster(): Promise<OneCluster> {
  const folder = await makeRunFolder("pm-namespaces");
  const crdFiles = readdirSync(CRDS).map((file) => path.join(CRDS, file));
  const kube = await startKubernetes({ controllerManager: true, scheduler: true, kwokNodes: 2, crdFiles });
  const [port = 0] = await freePorts(1);
  const crm = crmOf("edge", port, kube, folder, {
    OPRC_CRM_K8S_NAMESPACE: "*",
    OPRC_CRM_FEATURES_CREATE_NAMESPACES: "true",
  });
  await crm.start();
  return {
    folder: folder.path,
    crm,
    kubectl: async (...args) => (await kube.kubectl(args)).stdout,
    [Symbol.asyncDispose]: async () => {
      await crm.signal("SIGKILL");
      await kube.close();
      await folder.remove();
    },
  };
}

function crmOf(
  name: string,
  port: number,
  kube: KubernetesUnderTest,
  folder: RunFolder,
  settings: Readonly<Record<string, string>> = {},
): CrmProcess {
  let running: ProcessUnderTest | undefined;
  const url = `http://127.0.0.1:${port}`;
  return {
    name,
    url,
    start: async () => {
      const crm = await startProcess({
        name: `crm-${name}`,
        command: process.execPath,
        args: [CRM],
        cwd: folder.path,
        logFile: path.join(folder.path, `crm-${name}-${crypto.randomUUID()}.log`),
        env: {
          KUBECONFIG: kube.kubeconfig,
          HTTP_PORT: String(port),
          OPRC_CRM_HTTP_HOST: "127.0.0.1",
          OPRC_CRM_K8S_NAMESPACE: name,
          OPRC_CRM_CLUSTER_NAME: name,
          OPRC_CRM_FEATURES_ODGM: "true",
          OPRC_CRM_DATA_PLANE_NETWORK: "shared",
          OPRC_CRM_TEMPLATES_ODGM_IMAGE: "example.test/odgm:1",
          OPRC_CRM_ODGM_HEALTH: "false",
          // Without leader election a restarted manager need not wait for the lease of the killed one.
          OPRC_CRM_FEATURES_LEADER_ELECTION: "false",
          ...settings,
        },
      });
      running = crm;
      await untilReady(crm, async () => (await fetch(`${url}/readyz`)).ok);
    },
    signal: async (signal) => {
      running?.signal(signal);
      if (signal === "SIGKILL") await running?.exited;
    },
  };
}
