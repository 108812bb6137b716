import { crmConfig } from "../../../apps/class-runtime-manager/src/config.ts";
import { extraEnvTemplate, metricsValues, networkPolicy, podValues, secretKey } from "./common-values.ts";
import { choice, flag, group, labels, list, text, whole, type Chart } from "./model.ts";
import { rolesTemplate } from "./roles.ts";
import { settingValues } from "./settings.ts";

/** Settings that the templates set from other values. */
const MANAGED = [
  "OPRC_CRM_PROFILE",
  "OPRC_CRM_CLUSTER_NAME",
  "OPRC_CRM_HTTP_HOST",
  "HTTP_PORT",
  "GRPC_PORT",
  "OPRC_CRM_METRICS_PORT",
  "OPRC_CRM_METRICS_HOST",
  "OPRC_CRM_K8S_NAMESPACE",
  "OPRC_CRM_ROUTER_NAMESPACE",
  "OPRC_CRM_KUBECONFIG",
  "OPRC_CRM_KUBE_CONTEXT",
  "OPRC_CRM_FEATURES_INVOKE",
  "OPRC_CRM_FEATURES_CREATE_NAMESPACES",
  "OPRC_CRM_FEATURES_LEADER_ELECTION",
  "OPRC_CRM_LEADER_ELECTION_LEASE",
  "OPRC_CRM_LEADER_ELECTION_NAMESPACE",
  "OPRC_CRM_LEADER_ELECTION_IDENTITY",
  "POD_NAME",
  "OPRC_CRM_SECURITY_AUTH_MODE",
  "OPRC_CRM_SECURITY_MTLS",
  "OPRC_CRM_SECURITY_TLS_SOURCE",
  "OPRC_CRM_SECURITY_TLS_CERT_FILE",
  "OPRC_CRM_SECURITY_TLS_KEY_FILE",
  "OPRC_CRM_SECURITY_TLS_CLIENT_CA_FILE",
  "OPRC_CRM_SECURITY_TLS_CLIENT_NAMES",
  "OPRC_CRM_SECURITY_TOKEN",
  "OPRC_CRM_SELF_SIGNED_AUTHORITY_SECRET",
  "OPRC_CRM_SELF_SIGNED_SERVER_SECRET",
  "OPRC_CRM_SELF_SIGNED_CLIENT_SECRET",
  "OPRC_CRM_SELF_SIGNED_SERVER_NAMES",
  "OPRC_CRM_SELF_SIGNED_CLIENT_NAME",
  "OPRC_CRM_SELF_SIGNED_VALID",
  "OPRC_CRM_PM_URL",
  "OPRC_CRM_PM_TOKEN",
  "OPRC_CRM_PM_TLS_SOURCE",
  "OPRC_CRM_PM_TLS_CA_FILE",
  "OPRC_CRM_PM_TLS_CERT_FILE",
  "OPRC_CRM_PM_TLS_KEY_FILE",
];

export function classRuntimeManagerChart(root: string): Chart {
  return {
    name: "oaas-class-runtime-manager",
    description: "The class runtime manager of OaaS, which runs classes in one Kubernetes cluster",
    keywords: ["controller", "serverless", "objects"],
    images: ["oaas/class-runtime-manager"],
    values: {
      profile: choice("Preset of defaults of the settings.", "full", ["dev", "edge", "full"]),
      clusterName: text("Name of this cluster in health responses and reports."),
      replicas: whole("Replicas, of which one is the leader.", 2, 1, 10),
      namespaces: group("Namespaces whose classes the manager serves.", {
        all: flag("Serves all namespaces except system namespaces.", true),
        list: list("Served namespaces, if not all. They must exist.", { type: "string", minLength: 1 }),
      }),
      routers: group("Routers of the data plane.", {
        namespace: text(
          "Namespace whose routers all classes use, besides those in their own namespace. Default: the namespace of the release.",
          "",
          { pattern: "^([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)?$" },
        ),
      }),
      permissions: group("Optional permissions.", {
        invoke: flag("Allows `oaas invoke`, through the proxy of Services. Not for production.", false),
        createNamespaces: flag("Creates missing namespaces of classes. Not for shared clusters.", false),
        checkSecrets: flag(
          "Reports missing Secrets before a pod fails, with the permission to read any Secret by name.",
          false,
        ),
      }),
      userRoles: group("Roles for users of the cluster.", {
        create: flag("Lets users who edit or view a namespace do the same with its classes.", true),
      }),
      certificates: group("Certificates of the mutual TLS between package manager and class runtime manager.", {
        provider: choice(
          "self-signed: the manager creates and renews them. cert-manager: cert-manager does. secret: you do. none: no TLS; callers need a token.",
          "self-signed",
          ["self-signed", "cert-manager", "secret", "none"],
        ),
        secretName: text(
          "provider secret: the Secret with `tls.crt` and `tls.key` of the server, and in `ca.crt` the authorities of its clients.",
          "oprc-crm-tls",
          { minLength: 1 },
        ),
        clientNames: text(
          "Client certificates that are accepted, by common name or subject alternative name, with their roles.",
          "CN:oprc-pm=deployer",
          { minLength: 1 },
        ),
        serverNames: list("More DNS names of the server.", { type: "string", minLength: 1 }),
        duration: text("Lifetime of the certificates.", "2160h", { pattern: "^[0-9]+h$" }),
        issuerRef: group("provider cert-manager: an existing issuer. Default: a new authority.", {
          name: text("Name of the issuer."),
          kind: choice("Kind of the issuer.", "Issuer", ["Issuer", "ClusterIssuer"]),
          group: text("API group of the issuer.", "cert-manager.io"),
        }),
      }),
      tokenSecret: secretKey(
        "Bearer tokens of callers, one per line. They are required in addition to a certificate.",
        "token",
      ),
      reports: group("Status and metrics of classes for the package manager. `clusterName` is the cluster in them.", {
        url: text(
          "Port for reports of the package manager, for example `https://oprc-pm:8081`. Default: no reports.",
          "",
          {
            pattern: "^(https?://.+)?$",
          },
        ),
        tls: choice(
          "Certificates for https. provider: those of `certificates`, mutual TLS. secret: `tlsSecret`. public: public authorities, and no client certificate.",
          "provider",
          ["provider", "secret", "public"],
        ),
        tlsSecret: text("tls secret: Secret with `ca.crt`, `tls.crt` and `tls.key`."),
        tokenSecret: secretKey(
          "Token of the role `reporter@<clusterName>`, if the package manager does not accept the certificate alone.",
          "token",
        ),
      }),
      ...metricsValues("PodMonitor"),
      networkPolicy: networkPolicy(
        "package managers: pods named oprc-pm in this namespace, and in namespaces with the label oaas.io/package-manager=true",
        "More peers, for example an ipBlock of a package manager in another cluster.",
      ),
      podDisruptionBudget: group("The PodDisruptionBudget.", {
        enabled: flag("Creates it when there are several replicas.", true),
      }),
      service: group("The Service.", { annotations: labels("Its annotations.") }),
      ...settingValues(crmConfig, MANAGED),
      ...podValues("oaas/class-runtime-manager", {
        requests: { cpu: "200m", memory: "256Mi" },
        limits: { memory: "1Gi" },
      }),
    },
    readme: [
      "Install one release per cluster, after the chart `oaas-crds`; the objects have fixed names, so that a second release is",
      "rejected. Guides: [install](../../../docs/guides/install.md), [certificates](../../../docs/guides/certificates.md).",
    ].join("\n"),
    files: {
      "templates/roles.yaml": rolesTemplate(root),
      "templates/_extra-env.tpl": extraEnvTemplate("oprc-crm", MANAGED),
    },
  };
}
