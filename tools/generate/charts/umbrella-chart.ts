import { flag, group, text, type Chart } from "./model.ts";

export const umbrellaChart: Chart = {
  name: "oaas",
  description:
    "OaaS in one cluster: definitions, class runtime manager, package manager, and optionally the data plane",
  keywords: ["serverless", "objects", "multi-cluster"],
  images: ["oaas/class-runtime-manager", "oaas/package-manager"],
  dependencies: [
    { name: "oaas-crds", alias: "crds", condition: "crds.enabled" },
    { name: "oaas-class-runtime-manager", alias: "classRuntimeManager", condition: "classRuntimeManager.enabled" },
    { name: "oaas-package-manager", alias: "packageManager", condition: "packageManager.enabled" },
    { name: "oaas-data-plane", alias: "dataPlane", condition: "dataPlane.enabled" },
  ],
  values: {
    crds: group("Values of the chart [oaas-crds](../oaas-crds/README.md).", {
      enabled: flag("Installs the definitions.", true),
    }),
    classRuntimeManager: group(
      "Values of the chart [oaas-class-runtime-manager](../oaas-class-runtime-manager/README.md).",
      {
        enabled: flag("Installs the class runtime manager.", true),
        clusterName: text("Name of this cluster, as in `packageManager.clusters`.", "local"),
        reports: group("Reports to the package manager.", {
          url: text("Its port for reports. Empty: no reports.", "https://oprc-pm:8081"),
        }),
      },
    ),
    packageManager: group("Values of the chart [oaas-package-manager](../oaas-package-manager/README.md).", {
      enabled: flag("Installs the package manager.", true),
      clusters: {
        doc: "Clusters by name. Default: this cluster, over mutual TLS.",
        default: {
          local: { url: "https://oprc-crm:8088", tlsSecret: "oprc-pm-tls", labels: { env: "cloud" } },
        },
        schema: { type: "object" },
      },
      reports: group("Reports of class runtime managers.", {
        enabled: flag("Opens the port for them.", true),
        tlsSecret: text("Secret with the certificate of the port.", "oprc-pm-tls"),
        reporters: text("Class runtime managers that report with their certificate.", "CN:oprc-crm=local"),
      }),
    }),
    dataPlane: group("Values of the chart [oaas-data-plane](../oaas-data-plane/README.md).", {
      enabled: flag("Installs routers and gateway. Set `router.image` and `gateway.image`.", false),
    }),
  },
  readme: [
    "The data plane is off, because its images are yours to name. The class runtime manager finds its routers by itself.",
    "",
    "```sh example",
    "helm dependency build deploy/charts/oaas",
    "helm install oaas deploy/charts/oaas --namespace oaas-system --create-namespace",
    "```",
    "",
    "Guides: [install](../../../docs/guides/install.md), [certificates](../../../docs/guides/certificates.md).",
  ].join("\n"),
};
