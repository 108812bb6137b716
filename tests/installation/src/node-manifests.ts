import { etcdArgs, type IssuedCertificate } from "@oaas/real-components";
import type { Authority } from "@oaas/testkit";
import { API_LOAD, ETCD, PROMETHEUS } from "./node-images.ts";

const RESTRICTED_USER = { runAsNonRoot: true, runAsUser: 65_532, runAsGroup: 65_532, fsGroup: 65_532 };

/** The default storage class of the cluster, with one volume in a folder of the node. */
export function nodeStorage(folder: string): readonly object[] {
  return [
    {
      apiVersion: "storage.k8s.io/v1",
      kind: "StorageClass",
      metadata: { name: "local", annotations: { "storageclass.kubernetes.io/is-default-class": "true" } },
      provisioner: "kubernetes.io/no-provisioner",
      volumeBindingMode: "WaitForFirstConsumer",
    },
    {
      apiVersion: "v1",
      kind: "PersistentVolume",
      metadata: { name: "local-1" },
      spec: {
        capacity: { storage: "5Gi" },
        accessModes: ["ReadWriteOnce"],
        persistentVolumeReclaimPolicy: "Retain",
        storageClassName: "local",
        local: { path: folder },
        nodeAffinity: {
          required: {
            nodeSelectorTerms: [
              { matchExpressions: [{ key: "kubernetes.io/hostname", operator: "In", values: ["real-1"] }] },
            ],
          },
        },
      },
    },
  ];
}

/** The address of etcd, for `storage.etcd.endpoints`. */
export const ETCD_URL = "https://etcd.etcd.svc:2379";

/** An etcd of one member that requires client certificates, in a namespace of its own. */
export function etcdInCluster(authority: Authority): readonly object[] {
  const server = authority.issue({ commonName: "etcd", hosts: ["etcd.etcd.svc", "127.0.0.1"] });
  const metadata = { name: "etcd", namespace: "etcd" };
  const folder = "/etc/etcd";
  const args = [
    ...etcdArgs({
      name: "etcd",
      dataDir: "/var/lib/etcd/data",
      clientUrl: "https://0.0.0.0:2379",
      peerUrl: "http://127.0.0.1:2380",
      healthUrl: "http://0.0.0.0:2381",
      initialCluster: "etcd=http://127.0.0.1:2380",
      fsync: false,
    }),
    `--cert-file=${folder}/tls.crt`,
    `--key-file=${folder}/tls.key`,
    `--trusted-ca-file=${folder}/ca.crt`,
    "--client-cert-auth",
  ];
  const container = {
    name: "etcd",
    image: ETCD,
    args,
    readinessProbe: { httpGet: { path: "/health", port: 2381 }, periodSeconds: 1 },
    volumeMounts: [
      { name: "data", mountPath: "/var/lib/etcd" },
      { name: "tls", mountPath: folder },
    ],
  };
  const volumes = [
    { name: "data", emptyDir: {} },
    { name: "tls", secret: { secretName: "etcd" } },
  ];
  return [
    { apiVersion: "v1", kind: "Namespace", metadata: { name: "etcd" } },
    tlsSecret(metadata, authority, server),
    service(metadata, 2379),
    deployment(metadata, { securityContext: RESTRICTED_USER, containers: [container], volumes }),
  ];
}

/** A Secret with a certificate, as the chart expects it. */
export function tlsSecret(
  metadata: { readonly name: string; readonly namespace: string },
  { certificate: authority }: Authority,
  { certificate, key }: IssuedCertificate,
): object {
  const stringData = { "ca.crt": authority, "tls.crt": certificate, "tls.key": key };
  return { apiVersion: "v1", kind: "Secret", metadata, stringData };
}

/** The address of Prometheus, for OPRC_CRM_PROM_URL. */
export const PROMETHEUS_URL = "http://prometheus.monitoring.svc:9090";

/** A Prometheus that reads the usage of all containers of a node through the API server. */
export function prometheusInCluster(node: string): readonly object[] {
  const metadata = { name: "prometheus", namespace: "monitoring" };
  const account = "/var/run/secrets/kubernetes.io/serviceaccount";
  const scrape = {
    job_name: "containers",
    scheme: "https",
    metrics_path: `/api/v1/nodes/${node}/proxy/metrics/cadvisor`,
    scrape_interval: "5s",
    authorization: { credentials_file: `${account}/token` },
    tls_config: { ca_file: `${account}/ca.crt` },
    static_configs: [{ targets: ["kubernetes.default.svc:443"], labels: { node } }],
  };
  const container = {
    name: "prometheus",
    image: PROMETHEUS,
    args: ["--config.file=/etc/prometheus/prometheus.yml", "--storage.tsdb.path=/data", "--log.level=warn"],
    readinessProbe: { httpGet: { path: "/-/ready", port: 9090 }, periodSeconds: 1 },
    volumeMounts: [
      { name: "data", mountPath: "/data" },
      { name: "config", mountPath: "/etc/prometheus" },
    ],
  };
  const volumes = [
    { name: "data", emptyDir: {} },
    { name: "config", configMap: { name: "prometheus" } },
  ];
  return [
    { apiVersion: "v1", kind: "Namespace", metadata: { name: "monitoring" } },
    { apiVersion: "v1", kind: "ServiceAccount", metadata },
    {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRole",
      metadata: { name: "prometheus" },
      rules: [{ apiGroups: [""], resources: ["nodes/proxy", "nodes/metrics"], verbs: ["get"] }],
    },
    {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRoleBinding",
      metadata: { name: "prometheus" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "prometheus" },
      subjects: [{ kind: "ServiceAccount", ...metadata }],
    },
    {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata,
      // YAML is a superset of JSON.
      data: { "prometheus.yml": JSON.stringify({ scrape_configs: [scrape] }) },
    },
    service(metadata, 9090),
    deployment(metadata, {
      serviceAccountName: "prometheus",
      securityContext: RESTRICTED_USER,
      containers: [container],
      volumes,
    }),
  ];
}

/** A pod that sends a steady load to the REST API. */
export function apiLoadPod(
  name: string,
  { url, token, deployment: key, pauseMs }: { url: string; token: string; deployment: string; pauseMs: number },
): object {
  const settings = { API_URL: url, API_TOKEN: token, DEPLOYMENT: key, PAUSE_MS: String(pauseMs) };
  const env = Object.entries(settings).map(([setting, value]) => ({ name: setting, value }));
  const container = { name: "load", image: API_LOAD, env };
  const spec = { restartPolicy: "Never", terminationGracePeriodSeconds: 1, containers: [container] };
  return { apiVersion: "v1", kind: "Pod", metadata: { name, namespace: "default" }, spec };
}

interface ObjectName {
  readonly name: string;
  readonly namespace: string;
}

function service(metadata: ObjectName, port: number): object {
  const spec = { selector: { app: metadata.name }, ports: [{ port, targetPort: port }] };
  return { apiVersion: "v1", kind: "Service", metadata, spec };
}

function deployment(metadata: ObjectName, pod: object): object {
  const labels = { app: metadata.name };
  const spec = { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: pod } };
  return { apiVersion: "apps/v1", kind: "Deployment", metadata, spec };
}
