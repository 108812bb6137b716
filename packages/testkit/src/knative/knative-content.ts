import { join } from "node:path";
import { componentFile, type Kubectl } from "@oaas/real-components";
import { addKnativeKinds, fileArgs, runKubectl } from "./knative-kinds.ts";

export const KNATIVE_NAMESPACE = "knative-serving";

const CORE_PARTS = [
  "configmaps/autoscaler",
  "configmaps/certmanager",
  "configmaps/defaults",
  "configmaps/deployment",
  "configmaps/domain",
  "configmaps/features",
  "configmaps/gc",
  "configmaps/leader-election",
  "configmaps/logging",
  "configmaps/observability",
  "configmaps/tracing",
  "deployments/activator",
  "webhooks/secret",
];
const WEBHOOKS = ["webhooks/configmap-validation", "webhooks/defaulting", "webhooks/resource-validation"];

/** Registry whose tags Knative does not resolve to a digest; all other registries are unreachable in tests. */
export const KNATIVE_IMAGES = "dev.local";

/** Settings of the installation. */
const SETTINGS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "config-deployment": {
    "queue-sidecar-image": `${KNATIVE_IMAGES}/queue:v1`,
    "registries-skipping-tag-resolving": KNATIVE_IMAGES,
    "digest-resolution-timeout": "3s",
  },
  "config-domain": { "example.test": "" },
  "config-network": { "ingress-class": "standin.ingress.networking.knative.dev" },
};

interface Item {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly [field: string]: unknown;
}

/** Installs the objects of Knative without its processes. The webhook will listen on this port. */
export async function addKnativeContent(kubectl: Kubectl, webhookPort: number): Promise<void> {
  const manifests = componentFile("knative-manifests");
  const core = (parts: readonly string[]): string[] =>
    fileArgs(parts.map((part) => join(manifests, "core", `${part}.yaml`)));
  await runKubectl(kubectl, ["apply", "--server-side", ...core(["100-namespace"])]);
  await addKnativeKinds(kubectl);
  const parts = await read(kubectl, [...core(CORE_PARTS), ...fileArgs([join(manifests, "config-network.yaml")])]);
  const webhooks = await read(kubectl, core(WEBHOOKS));
  const items = [
    ...parts.map((item) => withSettings(withoutRegistry(item))),
    webhookService(),
    ...webhooks.map((item) => withPort(item, webhookPort)),
  ];
  const list = JSON.stringify({ apiVersion: "v1", kind: "List", items });
  await runKubectl(kubectl, ["apply", "--server-side", "--force-conflicts", "-f", "-"], { stdin: list });
}

/** Removes the webhooks: without their process they would block all changes to Knative objects. */
export async function removeWebhooks(kubectl: Kubectl): Promise<void> {
  const manifests = componentFile("knative-manifests");
  const files = WEBHOOKS.map((part) => join(manifests, "core", `${part}.yaml`));
  await runKubectl(kubectl, ["delete", "--ignore-not-found", ...fileArgs(files)]);
}

/** Parses YAML with kubectl. */
async function read(kubectl: Kubectl, args: readonly string[]): Promise<Item[]> {
  const text = await runKubectl(kubectl, ["apply", "--dry-run=client", "--output=json", ...args]);
  return (JSON.parse(text) as { items: Item[] }).items;
}

function withSettings(item: Item): Item {
  const settings = item.kind === "ConfigMap" ? SETTINGS[item.metadata.name] : undefined;
  return settings === undefined ? item : { ...item, data: settings };
}

/** Replaces the image and service account of the activator, which do not exist here; only its endpoints matter. */
function withoutRegistry(item: Item): Item {
  if (item.kind !== "Deployment") return item;
  const container = { name: "activator", image: `${KNATIVE_IMAGES}/activator:v1` };
  const spec = item["spec"] as { template: { metadata: object } };
  const template = { metadata: spec.template.metadata, spec: { containers: [container] } };
  return { ...item, spec: { ...spec, template } };
}

/** A Service that routes the webhook calls of the API server to this machine. */
function webhookService(): object {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "webhook", namespace: KNATIVE_NAMESPACE },
    spec: { type: "ExternalName", externalName: "localhost" },
  };
}

function withPort(item: Item, port: number): Item {
  const webhooks = item["webhooks"] as { clientConfig: { service: object } }[];
  return {
    ...item,
    webhooks: webhooks.map((webhook) => ({
      ...webhook,
      clientConfig: { service: { ...webhook.clientConfig.service, port } },
    })),
  };
}
