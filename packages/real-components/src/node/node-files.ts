import type { TokenUser } from "../kubernetes/kubeconfig.ts";

/** The range of Service addresses, as the API server has it. */
export const SERVICE_RANGE = "10.0.0.0/24";
/** The range of all pods. */
export const POD_RANGE = "10.88.0.0/16";
/** The first address of the network: DNS, and the API server for pods. */
export const NETWORK_ADDRESS = "10.88.0.1";
export const CLUSTER_DOMAIN = "cluster.local";
export const PAUSE_IMAGE = "oaas.local/pause:1";
export const KUBE_PROXY_HEALTH_PORT = 10_256;
export const DNS_READY_PORT = 8_181;

/** A real node: its name, address and range of pods in the network of the nodes. */
export interface NodeIdentity {
  readonly name: string;
  readonly address: string;
  readonly podRange: string;
}

/** The nodes real-1, real-2 and so on. */
export function nodeIdentity(index: number): NodeIdentity {
  return { name: `real-${index}`, address: `10.88.0.${10 + index}`, podRange: `10.88.${index}.0/24` };
}

export interface ContainerdOptions {
  readonly folder: string;
  readonly cniPlugins: string;
  /** `native` copies every layer; for file systems below which overlayfs does not work. */
  readonly snapshotter: "overlayfs" | "native";
  /** Without the capability to lower the OOM score, runc cannot start a container that asks for it. */
  readonly canLowerOomScore: boolean;
}

/** The configuration of containerd in TOML. JSON strings are valid TOML strings. */
export function containerdConfig({ folder, cniPlugins, snapshotter, canLowerOomScore }: ContainerdOptions): string {
  const text = (value: string): string => JSON.stringify(value);
  return `version = 2
root = ${text(`${folder}/containers`)}
state = "/run/containerd"
[grpc]
  address = "/run/containerd/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = ${text(PAUSE_IMAGE)}
  restrict_oom_score_adj = ${!canLowerOomScore}
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = ${text(snapshotter)}
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = ${text(cniPlugins)}
    conf_dir = ${text(`${folder}/cni`)}
`;
}

/** The network of pods: a pair of interfaces for each pod, without a bridge. */
export function podNetwork(node: NodeIdentity): object {
  return {
    cniVersion: "0.4.0",
    name: "oaas-pods",
    plugins: [
      {
        type: "ptp",
        ipMasq: false,
        ipam: { type: "host-local", ranges: [[{ subnet: node.podRange }]], routes: [{ dst: "0.0.0.0/0" }] },
      },
    ],
  };
}

/** The configuration of a kubelet. */
export function kubeletConfig(node: NodeIdentity, cgroup: string, clientCaFile: string): object {
  return {
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    kind: "KubeletConfiguration",
    address: node.address,
    port: 10_250,
    healthzBindAddress: node.address,
    healthzPort: 10_248,
    readOnlyPort: 0,
    authentication: { anonymous: { enabled: false }, webhook: { enabled: true }, x509: { clientCAFile: clientCaFile } },
    authorization: { mode: "Webhook" },
    containerRuntimeEndpoint: "unix:///run/containerd/containerd.sock",
    cgroupDriver: "cgroupfs",
    cgroupRoot: `/${cgroup}`,
    failCgroupV1: false,
    failSwapOn: false,
    clusterDNS: [NETWORK_ADDRESS],
    clusterDomain: CLUSTER_DOMAIN,
    resolvConf: "",
    enforceNodeAllocatable: [],
    evictionHard: { "memory.available": "100Mi" },
    // Images are imported once and cannot be pulled again.
    imageGCHighThresholdPercent: 100,
    // The loss of a node is noticed within seconds.
    nodeLeaseDurationSeconds: 12,
    shutdownGracePeriod: "0s",
  };
}

/** The configuration of kube-proxy. */
export function kubeProxyConfig(kubeconfig: string): object {
  return {
    apiVersion: "kubeproxy.config.k8s.io/v1alpha1",
    kind: "KubeProxyConfiguration",
    mode: "nftables",
    nftables: { minSyncPeriod: "0.2s" },
    clientConnection: { kubeconfig },
    hostnameOverride: nodeIdentity(1).name,
    bindAddress: nodeIdentity(1).address,
    healthzBindAddress: `127.0.0.1:${KUBE_PROXY_HEALTH_PORT}`,
    metricsBindAddress: "127.0.0.1:10249",
    clusterCIDR: POD_RANGE,
    detectLocalMode: "ClusterCIDR",
    // These limits belong to the machine.
    conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: "0s", tcpCloseWaitTimeout: "0s" },
  };
}

/** The configuration of CoreDNS: names of the cluster only. */
export function corefile(kubeconfig: string): string {
  return `. {
    bind ${NETWORK_ADDRESS}
    errors
    ready 127.0.0.1:${DNS_READY_PORT}
    kubernetes ${CLUSTER_DOMAIN} in-addr.arpa {
        kubeconfig ${kubeconfig}
        ttl 1
    }
}
`;
}

/** Lets the API server reach nodes, pods and Services through the proxy in their network. */
export function egressConfig(proxySocket: string): object {
  return {
    apiVersion: "apiserver.k8s.io/v1beta1",
    kind: "EgressSelectorConfiguration",
    egressSelections: [
      {
        name: "cluster",
        connection: { proxyProtocol: "HTTPConnect", transport: { uds: { udsName: proxySocket } } },
      },
    ],
  };
}

/** The users of the parts of a node. */
export function nodeUsers(names: readonly string[], token: (name: string) => string): readonly TokenUser[] {
  const user = (name: string, groups: readonly string[] = []): TokenUser => ({ name, token: token(name), groups });
  return [
    ...names.map((name) => user(`system:node:${name}`, ["system:nodes"])),
    user("system:kube-proxy"),
    user("system:coredns"),
  ];
}

/** Permissions that a cluster has by its node authorizer and by the installation of CoreDNS. */
export const NODE_PERMISSIONS: readonly object[] = [
  binding("oaas-real-nodes", "system:node", { kind: "Group", name: "system:nodes" }),
  {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRole",
    metadata: { name: "system:coredns" },
    rules: [
      { apiGroups: [""], resources: ["endpoints", "services", "pods", "namespaces"], verbs: ["list", "watch"] },
      { apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"], verbs: ["list", "watch"] },
    ],
  },
  binding("system:coredns", "system:coredns", { kind: "User", name: "system:coredns" }),
];

function binding(name: string, role: string, subject: { kind: string; name: string }): object {
  return {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRoleBinding",
    metadata: { name },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: role },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", ...subject }],
  };
}
