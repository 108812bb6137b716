import type { Component } from "./component.ts";
import { KNATIVE_FILES } from "./knative-files.ts";

function declare<Name extends string, File extends string>(component: Component<Name, File>): Component<Name, File> {
  return component;
}

/** Containers, the network of pods, and the libraries that a minimal system may lack. */
const CONTAINER_PACKAGES =
  "containerd runc containernetworking-plugins libseccomp2 nftables libnftables1 libnftnl11 libjansson4 libmnl0 libedit2 libxtables12 iproute2 libbsd0 libmd0 libbpf1 libelf1 libcap2".split(
    " ",
  );

const DECLARED = [
  declare({
    name: "etcd",
    version: "3.6.8",
    tier: "test",
    purpose: "storage backend, and the store of the real cluster",
    recipe: {
      kind: "go-build",
      module: "kubernetes",
      binaries: { etcd: "go.etcd.io/etcd/server/v3", etcdctl: "go.etcd.io/etcd/etcdctl/v3" },
    },
    files: { etcd: "bin/etcd", etcdctl: "bin/etcdctl" },
    proof: { file: "etcd", args: ["--version"], contains: "3.6.8" },
  }),
  declare({
    name: "kubernetes",
    version: "1.36.3",
    tier: "test",
    purpose: "real cluster: API server, controller manager, scheduler, and kubectl as an independent client",
    recipe: {
      kind: "go-build",
      module: "kubernetes",
      binaries: {
        "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
        "kube-controller-manager": "k8s.io/kubernetes/cmd/kube-controller-manager",
        "kube-scheduler": "k8s.io/kubernetes/cmd/kube-scheduler",
        kubectl: "k8s.io/kubernetes/cmd/kubectl",
      },
    },
    files: {
      "kube-apiserver": "bin/kube-apiserver",
      "kube-controller-manager": "bin/kube-controller-manager",
      "kube-scheduler": "bin/kube-scheduler",
      kubectl: "bin/kubectl",
    },
    proof: { file: "kubectl", args: ["version", "--client"], contains: "v1.36.3" },
  }),
  declare({
    name: "kwok",
    version: "0.8.0",
    tier: "test",
    purpose: "simulated nodes and pods of the real cluster",
    recipe: {
      kind: "go-build",
      module: "kubernetes",
      binaries: { kwok: "sigs.k8s.io/kwok/cmd/kwok" },
      moduleFiles: {
        module: "sigs.k8s.io/kwok",
        files: [
          "kustomize/stage/node/fast/node-initialize.yaml",
          "kustomize/stage/node/heartbeat/node-heartbeat.yaml",
          "kustomize/stage/pod/fast/pod-ready.yaml",
          "kustomize/stage/pod/fast/pod-complete.yaml",
          "kustomize/stage/pod/fast/pod-delete.yaml",
        ],
      },
    },
    files: { kwok: "bin/kwok", "kwok-stages": "files/kustomize/stage" },
    proof: { file: "kwok", args: ["--help"], contains: "--manage-all-nodes" },
  }),
  declare({
    name: "prometheus",
    version: "2.42",
    tier: "test",
    purpose: "metrics that the NFR analyzer queries",
    recipe: {
      kind: "debian-extract",
      packages: ["prometheus"],
      commands: { prometheus: "usr/bin/prometheus", promtool: "usr/bin/promtool" },
    },
    files: { prometheus: "bin/prometheus", promtool: "bin/promtool" },
    proof: { file: "prometheus", args: ["--version"], contains: "version 2.42" },
  }),
  declare({
    name: "etcd34",
    version: "3.4.23",
    tier: "test",
    purpose: "storage backend, older version still in use",
    recipe: {
      kind: "debian-extract",
      packages: ["etcd-server", "etcd-client"],
      commands: { etcd34: "usr/bin/etcd", etcdctl34: "usr/bin/etcdctl" },
    },
    files: { etcd34: "bin/etcd34", etcdctl34: "bin/etcdctl34" },
    proof: { file: "etcd34", args: ["--version"], contains: "3.4.23" },
  }),
  declare({
    name: "protoc",
    version: "3.21.12",
    tier: "test",
    purpose: "independent implementation of protobuf",
    recipe: {
      kind: "debian-extract",
      packages: ["protobuf-compiler", "libprotoc32", "libprotobuf32", "libprotobuf-dev"],
      commands: { protoc: "usr/bin/protoc" },
    },
    files: { protoc: "bin/protoc", "protoc-include": "usr/include" },
    proof: { file: "protoc", args: ["--version"], contains: "libprotoc 3.21.12" },
  }),
  declare({
    name: "zsh",
    version: "5.9",
    tier: "test",
    purpose: "shell, for the completion of the command line",
    // The package has its program at bin/zsh, so the wrapper has another name.
    recipe: { kind: "debian-extract", packages: ["zsh", "zsh-common"], commands: { "zsh-shell": "bin/zsh" } },
    files: { zsh: "bin/zsh-shell" },
    proof: { file: "zsh", args: ["--version"], contains: "zsh 5.9" },
  }),
  declare({
    name: "fish",
    version: "3.6.0",
    tier: "test",
    purpose: "shell, for the completion of the command line",
    recipe: {
      kind: "debian-extract",
      packages: ["fish", "fish-common", "libpcre2-32-0"],
      commands: { fish: "usr/bin/fish" },
    },
    files: { fish: "bin/fish" },
    proof: { file: "fish", args: ["--version"], contains: "version 3.6.0" },
  }),
  declare({
    name: "chromium",
    version: "Debian's",
    tier: "test",
    purpose: "browser for the console",
    recipe: { kind: "host-command", command: "chromium", debianPackage: "chromium" },
    files: { chromium: "" },
    proof: { file: "chromium", args: ["--version"], contains: "Chromium" },
  }),
  declare({
    name: "knative-manifests",
    version: "0.50.0",
    tier: "test",
    purpose: "CRDs and manifests of Knative Serving",
    recipe: { kind: "go-files", module: "knative", moduleFiles: KNATIVE_FILES },
    files: { "knative-manifests": "files/config" },
  }),
  declare({
    name: "prometheus-operator-crds",
    version: "0.94.1",
    tier: "test",
    purpose: "CRDs of the Prometheus operator",
    recipe: {
      kind: "go-files",
      module: "prometheus-operator",
      moduleFiles: [
        {
          module: "github.com/prometheus-operator/prometheus-operator",
          files: ["servicemonitors", "podmonitors", "prometheusrules"].map(
            (kind) => `example/prometheus-operator-crd/monitoring.coreos.com_${kind}.yaml`,
          ),
        },
      ],
    },
    files: { "prometheus-operator-crds": "files/example/prometheus-operator-crd" },
  }),
  declare({
    name: "keda-crds",
    version: "2.21.0",
    tier: "test",
    purpose: "CRDs of KEDA",
    recipe: {
      kind: "go-files",
      module: "keda",
      moduleFiles: [
        {
          module: "github.com/kedacore/keda/v2",
          files: [
            ...["scaledobjects", "scaledjobs", "triggerauthentications", "clustertriggerauthentications"].map(
              (kind) => `config/crd/bases/keda.sh_${kind}.yaml`,
            ),
            ...["cloudeventsources", "clustercloudeventsources"].map(
              (kind) => `config/crd/bases/eventing.keda.sh_${kind}.yaml`,
            ),
          ],
        },
      ],
    },
    files: { "keda-crds": "files/config/crd/bases" },
  }),
  declare({
    name: "gateway-api-crds",
    version: "1.6.3",
    tier: "test",
    purpose: "CRDs of the Gateway API",
    recipe: {
      kind: "go-files",
      module: "gateway-api",
      moduleFiles: [
        {
          module: "sigs.k8s.io/gateway-api",
          files: ["gateways", "httproutes"].map((kind) => `config/crd/standard/gateway.networking.k8s.io_${kind}.yaml`),
        },
      ],
    },
    files: { "gateway-api-crds": "files/config/crd/standard" },
  }),
  declare({
    name: "compose-schema",
    version: "2.16.2",
    tier: "test",
    purpose: "schema of Compose files",
    recipe: {
      kind: "go-files",
      module: "compose-schema",
      moduleFiles: [{ module: "github.com/compose-spec/compose-go/v2", files: ["schema/compose-spec.json"] }],
    },
    files: { "compose-schema": "files/schema/compose-spec.json" },
  }),
  declare({
    name: "systemd-analyze",
    version: "Debian's",
    tier: "test",
    purpose: "verification of systemd units",
    recipe: { kind: "host-command", command: "systemd-analyze", debianPackage: "systemd" },
    files: { "systemd-analyze": "" },
    proof: { file: "systemd-analyze", args: ["--version"], contains: "systemd 252" },
  }),
  declare({
    name: "knative",
    version: "0.50.0",
    tier: "full",
    purpose: "Knative Serving: webhook, controllers and autoscaler (Knative 1.23)",
    recipe: {
      kind: "go-build",
      module: "knative",
      binaries: {
        "knative-webhook": "knative.dev/serving/cmd/webhook",
        "knative-autoscaler": "knative.dev/serving/cmd/autoscaler",
        "knative-controller": "./controller",
      },
      ownSources: ["controller"],
    },
    files: {
      "knative-webhook": "bin/knative-webhook",
      "knative-autoscaler": "bin/knative-autoscaler",
      "knative-controller": "bin/knative-controller",
    },
    proof: { file: "knative-controller", args: ["--help"], contains: "-kubeconfig" },
  }),
  declare({
    name: "vpa",
    version: "1.8.1",
    tier: "full",
    purpose: "recommender of the vertical pod autoscaler, run on samples",
    recipe: {
      kind: "go-build",
      module: "vpa",
      binaries: { "vpa-recommend": "./recommend" },
      ownSources: ["recommend"],
    },
    files: { "vpa-recommend": "bin/vpa-recommend" },
    proof: { file: "vpa-recommend", args: ["--help"], contains: "usage: recommend" },
  }),
  declare({
    name: "hpa",
    version: "1.36.3",
    tier: "full",
    purpose: "replica calculator of the horizontal pod autoscaler, run on given pods",
    recipe: {
      kind: "go-build",
      module: "kubernetes",
      binaries: { "hpa-replicas": "./hpareplicas" },
      ownSources: ["hpareplicas"],
    },
    files: { "hpa-replicas": "bin/hpa-replicas" },
    proof: { file: "hpa-replicas", args: ["--help"], contains: "usage: hpareplicas" },
  }),
  declare({
    name: "kpa",
    version: "0.50.0",
    tier: "full",
    purpose: "autoscaler of Knative, run on observed concurrency",
    recipe: { kind: "go-build", module: "kpa", binaries: { "kpa-scale": "./scale" }, ownSources: ["scale"] },
    files: { "kpa-scale": "bin/kpa-scale" },
    proof: { file: "kpa-scale", args: ["--help"], contains: "usage: scale" },
  }),
  declare({
    name: "sloth",
    version: "0.12.0",
    tier: "full",
    purpose: "generator of burn rate rules, to compare ours with",
    recipe: { kind: "go-build", module: "sloth", binaries: { sloth: "github.com/slok/sloth/cmd/sloth" } },
    files: { sloth: "bin/sloth" },
    proof: { file: "sloth", args: ["generate", "--help"], contains: "--default-slo-period" },
  }),
  declare({
    name: "crane",
    version: "0.22.1",
    tier: "full",
    purpose: "registry of go-containerregistry, and an independent validation of images",
    recipe: {
      kind: "go-build",
      module: "image-tools",
      binaries: { crane: "github.com/google/go-containerregistry/cmd/crane" },
    },
    files: { crane: "bin/crane" },
    proof: { file: "crane", args: ["registry", "serve", "--help"], contains: "--address" },
  }),
  declare({
    name: "regctl",
    version: "0.11.7",
    tier: "full",
    purpose: "client of registries that copies images with their referrers",
    recipe: {
      kind: "go-build",
      module: "image-tools",
      binaries: { regctl: "github.com/regclient/regclient/cmd/regctl" },
    },
    files: { regctl: "bin/regctl" },
    proof: { file: "regctl", args: ["image", "copy", "--help"], contains: "--referrers" },
  }),
  declare({
    name: "keda",
    version: "2.21.0",
    tier: "full",
    purpose: "operator of KEDA",
    recipe: {
      kind: "go-build",
      module: "keda",
      binaries: { "keda-operator": "github.com/kedacore/keda/v2/cmd/operator" },
    },
    files: { "keda-operator": "bin/keda-operator" },
    proof: { file: "keda-operator", args: ["--help"], contains: "--metrics-service-bind-address" },
  }),
  declare({
    name: "helm",
    version: "4.3.1",
    tier: "full",
    purpose: "package manager of Kubernetes, for our charts",
    recipe: { kind: "go-build", module: "helm", binaries: { helm: "helm.sh/helm/v4/cmd/helm" } },
    files: { helm: "bin/helm" },
    proof: { file: "helm", args: ["version", "--short"], contains: "v4.3" },
  }),
  declare({
    name: "cert-manager",
    version: "1.21.2",
    tier: "full",
    purpose: "controllers of cert-manager for self-signed issuers and authorities",
    recipe: {
      kind: "go-build",
      module: "cert-manager",
      binaries: { "cert-manager-controller": "./controller" },
      ownSources: ["controller"],
      moduleFiles: {
        module: "github.com/cert-manager/cert-manager",
        files: ["certificaterequests", "certificates", "clusterissuers", "issuers"].map(
          (kind) => `deploy/crds/cert-manager.io_${kind}.yaml`,
        ),
      },
    },
    files: { "cert-manager-controller": "bin/cert-manager-controller", "cert-manager-crds": "files/deploy/crds" },
    proof: { file: "cert-manager-controller", args: ["--help"], contains: "usage: cert-manager-controller" },
  }),
  declare({
    name: "node",
    version: "1.36.3",
    tier: "full",
    purpose: "real nodes: kubelet, kube-proxy and the container that holds the namespaces of a pod",
    recipe: {
      kind: "go-build",
      module: "node",
      binaries: {
        kubelet: "k8s.io/kubernetes/cmd/kubelet",
        "kube-proxy": "k8s.io/kubernetes/cmd/kube-proxy",
        "pause-container": "./pause",
      },
      ownSources: ["pause"],
    },
    files: { kubelet: "bin/kubelet", "kube-proxy": "bin/kube-proxy", "pause-container": "bin/pause-container" },
    proof: { file: "kubelet", args: ["--version"], contains: "v1.36.3" },
  }),
  declare({
    name: "containerd",
    version: "1.6.20",
    tier: "full",
    purpose: "containers of real nodes: containerd, runc, network plug-ins, nftables",
    recipe: {
      kind: "debian-extract",
      packages: CONTAINER_PACKAGES,
      commands: {
        containerd: "usr/bin/containerd",
        "containerd-shim-runc-v2": "usr/bin/containerd-shim-runc-v2",
        ctr: "usr/bin/ctr",
        runc: "usr/sbin/runc",
        nft: "usr/sbin/nft",
        // The package has /bin/ip itself, in the folder of these commands.
        iproute: "bin/ip",
      },
    },
    files: { containerd: "bin/containerd", ctr: "bin/ctr", "container-tools": "bin", "cni-plugins": "usr/lib/cni" },
    proof: { file: "containerd", args: ["--version"], contains: "1.6.20" },
  }),
  declare({
    name: "coredns",
    version: "1.15.0",
    tier: "full",
    purpose: "names of Services on real nodes",
    recipe: { kind: "go-build", module: "coredns", binaries: { coredns: "./dns" }, ownSources: ["dns"] },
    files: { coredns: "bin/coredns" },
    proof: { file: "coredns", args: ["-version"], contains: "1.15.0" },
  }),
  declare({
    name: "kwok-metrics",
    version: "0.8.0",
    tier: "full",
    purpose: "resource usage of the simulated pods",
    recipe: {
      kind: "go-files",
      module: "kubernetes",
      moduleFiles: [
        {
          module: "sigs.k8s.io/kwok",
          files: [
            "kustomize/metrics/resource/metrics-resource.yaml",
            "kustomize/metrics/usage/usage-from-annotation.yaml",
          ],
        },
      ],
    },
    files: { "kwok-metrics": "files/kustomize/metrics" },
  }),
  declare({
    name: "metrics-server",
    version: "0.9.0",
    tier: "full",
    purpose: "metrics API of a real cluster",
    recipe: {
      kind: "go-build",
      module: "metrics-server",
      binaries: { "metrics-server": "sigs.k8s.io/metrics-server/cmd/metrics-server" },
    },
    files: { "metrics-server": "bin/metrics-server" },
    proof: { file: "metrics-server", args: ["--help"], contains: "--metric-resolution" },
  }),
  declare({
    name: "otel-collector",
    version: "0.162.0",
    tier: "full",
    purpose: "OpenTelemetry Collector, a receiver of our traces",
    recipe: {
      kind: "go-build",
      module: "otel-collector",
      binaries: { "otel-collector": "./collector" },
      ownSources: ["collector"],
    },
    files: { "otel-collector": "bin/otel-collector" },
    proof: { file: "otel-collector", args: ["--version"], contains: "0.162.0" },
  }),
  declare({
    name: "buildah",
    version: "Debian's",
    tier: "full",
    purpose: "an engine that builds our Containerfile without a daemon",
    recipe: { kind: "host-command", command: "buildah", debianPackage: "buildah" },
    files: { buildah: "" },
    proof: { file: "buildah", args: ["--version"], contains: "buildah version 1." },
  }),
  declare({
    name: "krew",
    version: "0.5.0",
    tier: "full",
    purpose: "manager of kubectl plug-ins, with its own check of manifests",
    recipe: {
      kind: "go-build",
      module: "krew",
      binaries: {
        krew: "sigs.k8s.io/krew/cmd/krew",
        "validate-krew-manifest": "sigs.k8s.io/krew/cmd/validate-krew-manifest",
      },
    },
    files: { krew: "bin/krew", "validate-krew-manifest": "bin/validate-krew-manifest" },
    proof: { file: "krew", args: ["install", "--help"], contains: "--manifest" },
  }),
  declare({
    name: "kube-state-metrics",
    version: "2.20.0",
    tier: "full",
    purpose: "metrics of the objects in an API server, for our custom resource state metrics",
    recipe: {
      kind: "go-build",
      module: "kube-state-metrics",
      binaries: { "kube-state-metrics": "k8s.io/kube-state-metrics/v2" },
    },
    files: { "kube-state-metrics": "bin/kube-state-metrics" },
    proof: { file: "kube-state-metrics", args: ["--help"], contains: "--custom-resource-state-config-file" },
  }),
  declare({
    name: "etcd-bench",
    version: "1",
    tier: "bench",
    purpose: "minimal Go client of etcd, as a reference for benchmarks",
    recipe: {
      kind: "go-build",
      module: "kubernetes",
      binaries: { "etcd-bench": "./etcdbench" },
      ownSources: ["etcdbench"],
    },
    files: { "etcd-bench": "bin/etcd-bench" },
    proof: { file: "etcd-bench", args: ["--help"], contains: "-endpoints" },
  }),
] as const;

type Declared = (typeof DECLARED)[number];

export type ComponentName = Declared["name"];

/** All file names of all components. */
export type ComponentFileName = Declared extends infer C ? (C extends Component<string, infer F> ? F : never) : never;

/** All real components in the order in which they are obtained; the most needed come first. */
export const COMPONENTS: readonly Component[] = DECLARED;

/** The component with this name or with this file. */
export function componentOf(name: ComponentName | ComponentFileName): Component {
  const found =
    COMPONENTS.find((component) => component.name === name) ??
    COMPONENTS.find((component) => Object.hasOwn(component.files, name));
  if (!found) {
    const known = COMPONENTS.map((component) => component.name).join(", ");
    throw new RangeError(`unknown component or file "${name}"; components: ${known}`);
  }
  return found;
}
