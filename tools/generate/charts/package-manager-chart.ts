import { pmConfig } from "../../../apps/package-manager/src/config.ts";
import { extraEnvTemplate, metricsValues, networkPolicy, podValues, routeValues, secretKey } from "./common-values.ts";
import { choice, flag, group, labels, list, text, whole, type Chart, type Value } from "./model.ts";
import { SECRET_KEY, settingValues } from "./settings.ts";

/** Settings that the templates set from other values. */
const MANAGED = [
  "SERVER_HOST",
  "SERVER_PORT",
  "GRPC_PORT",
  "AUTH_MODE",
  "AUTH_TOKENS_FILE",
  "METRICS_PORT",
  "METRICS_HOST",
  "STORAGE_TYPE",
  "STORAGE_FILE",
  "STORAGE_ENCRYPTION_KEY",
  "ETCD_ENDPOINTS",
  "ETCD_KEY_PREFIX",
  "ETCD_TLS_ENABLED",
  "ETCD_TLS_INSECURE",
  "ETCD_CA_CERT_PATH",
  "ETCD_CLIENT_CERT_PATH",
  "ETCD_CLIENT_KEY_PATH",
  "ETCD_USERNAME",
  "ETCD_PASSWORD",
  "CRM_CLUSTERS_JSON",
  "CRM_CLUSTERS",
  "CRM_DEFAULT_URL",
  "CRM_SECRETS_DIR",
  "OPRC_PM_SECURITY_TLS_CERT_FILE",
  "OPRC_PM_SECURITY_TLS_KEY_FILE",
  "OPRC_PM_SECURITY_TLS_CLIENT_CA_FILE",
  "OPRC_PM_SECURITY_GRPC_TLS_CERT_FILE",
  "OPRC_PM_SECURITY_GRPC_TLS_KEY_FILE",
  "OPRC_PM_SECURITY_GRPC_TLS_CLIENT_CA_FILE",
  "OPRC_PM_SECURITY_GRPC_TLS_REPORTERS",
];

const CLUSTERS: Value = {
  doc: "Clusters by name: `url` of the class runtime manager, `labels`, `timeout`, `retry_attempts`, `tlsSecret` (`tls.crt`, `tls.key`, `ca.crt`) and `tokenSecret` (`{name, key}`).",
  default: {},
  schema: {
    type: "object",
    propertyNames: { pattern: "^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$" },
    additionalProperties: {
      type: "object",
      additionalProperties: false,
      required: ["url"],
      properties: {
        url: { type: "string", pattern: "^https?://" },
        labels: { type: "object", additionalProperties: { type: "string" } },
        timeout: { type: "integer", minimum: 1 },
        retry_attempts: { type: "integer", minimum: 0 },
        tlsSecret: { type: "string", minLength: 1 },
        tokenSecret: SECRET_KEY,
      },
    },
  },
};

export function packageManagerChart(): Chart {
  return {
    name: "oaas-package-manager",
    description: "The package manager of OaaS: registry of classes, planner, and deployments to many clusters",
    keywords: ["serverless", "objects", "multi-cluster"],
    images: ["oaas/package-manager"],
    values: {
      storage: group("Where packages and deployments are stored.", {
        type: choice("sqlite: one replica with a volume. etcd: several replicas.", "sqlite", ["sqlite", "etcd"]),
        size: text("Size of the volume (sqlite).", "2Gi", { pattern: "^[0-9.]+([KMGT]i?)?$" }),
        storageClassName: text("Storage class of the volume (sqlite). Default: that of the cluster."),
        annotations: labels("Annotations of the claim of the volume (sqlite), for example for backups."),
        whenDeleted: choice(
          "What happens to the volume when the release is uninstalled (sqlite). Delete: all data is lost.",
          "Retain",
          ["Retain", "Delete"],
        ),
        existingClaim: text("A claim that exists, instead of a new one (sqlite)."),
        etcd: group("The etcd cluster (etcd).", {
          endpoints: list("Members, for example `https://etcd-0.etcd:2379`.", { type: "string", minLength: 1 }),
          prefix: text("Prefix of every key.", "/oaas/pm", { minLength: 1 }),
          tlsSecret: text("Secret with `ca.crt`, and for client certificates `tls.crt` and `tls.key`."),
          clientCertificate: flag("Authenticates with the certificate of that Secret.", false),
          credentialsSecret: text("Secret with `username` and `password`."),
        }),
      }),
      replicas: whole("Replicas (etcd).", 2, 1, 20),
      clusters: CLUSTERS,
      authentication: group("Authentication of callers. OIDC is configured by `settings`.", {
        tokensSecret: secretKey(
          "Tokens: one line each, `name:role:SHA-256 of the token in hex`. Default: a Secret oprc-pm-tokens with a new token of the role admin.",
          "tokens",
        ),
      }),
      encryptionKeySecret: secretKey("Keys that encrypt the tokens of clusters in the store.", "key"),
      tls: group("TLS of the REST API. Without it, let an Ingress or a Gateway terminate TLS.", {
        secretName: text("Secret with `tls.crt` and `tls.key`."),
        clientCa: flag("Requires client certificates of the authorities in `ca.crt` of that Secret.", false),
      }),
      service: group("The Service.", {
        type: choice("Type.", "ClusterIP", ["ClusterIP", "NodePort", "LoadBalancer"]),
        annotations: labels("Its annotations."),
      }),
      ...routeValues(" Set the read timeout of your controller to at least 60 s, for event streams."),
      reports: group("The port 8081 for reports of class runtime managers, over gRPC with mutual TLS.", {
        enabled: flag("Opens it.", false),
        tlsSecret: text("Secret with `tls.crt`, `tls.key`, and in `ca.crt` the authorities of class runtime managers."),
        reporters: text(
          "Client certificates of class runtime managers with their clusters, for example `CN:oprc-crm=local`. Others need a token of the role `reporter@<cluster>`.",
        ),
        from: list(
          "More peers that may report, for example a namespaceSelector. Default: pods named oprc-crm in this namespace, and in namespaces with the label oaas.io/class-runtime-manager=true.",
          { type: "object" },
        ),
      }),
      ...metricsValues("ServiceMonitor"),
      networkPolicy: networkPolicy(
        "all clients to the API",
        "Peers that may call the API. Default: every client, because callers authenticate.",
      ),
      podDisruptionBudget: group("The PodDisruptionBudget.", { enabled: flag("Creates it (etcd).", true) }),
      ...settingValues(pmConfig, MANAGED),
      ...podValues("oaas/package-manager", {
        requests: { cpu: "100m", memory: "256Mi" },
        limits: { memory: "1Gi" },
      }),
    },
    readme: [
      "Install one release per organisation. Objects have fixed names, so that a namespace has one package manager.",
      "Guides: [install](../../../docs/guides/install.md), [certificates](../../../docs/guides/certificates.md).",
    ].join("\n"),
    files: { "templates/_extra-env.tpl": extraEnvTemplate("oprc-pm", MANAGED) },
  };
}
