import { choice, flag, group, labels, list, object, text, type ValueGroup, type Values } from "./model.ts";

const PULL_SECRETS = list("Secrets for the registry: `[{name}]`.", {
  type: "object",
  required: ["name"],
  properties: { name: { type: "string" } },
  additionalProperties: false,
});

/**
 * Rejects variables that the chart sets: the last one of a name would win, for example one that disables authentication.
 * The context of the template is the values with `extraEnv`.
 */
export function extraEnvTemplate(helper: string, managed: readonly string[]): string {
  return [
    "{{- /* Generated from tools/generate/charts by `npm run generate`. Do not edit. */}}",
    `{{- define "${helper}.extraEnv" -}}`,
    `{{- $own := list ${managed.map((name) => `"${name}"`).join(" ")} }}`,
    "{{- range .extraEnv }}",
    '{{- if or (has .name $own) (has (trimSuffix "_FILE" .name) $own) }}',
    '{{- fail (printf "extraEnv sets %s, which the chart sets itself: use the value of the chart for it" .name) }}',
    "{{- end }}",
    "{{- end }}",
    "{{- with .extraEnv }}{{ toYaml . }}{{ end }}",
    "{{- end }}",
    "",
  ].join("\n");
}

/** The image of a program of ours, or, without a name, of a program that the operator provides. */
function imageValues(name?: string): ValueGroup {
  return group(name === undefined ? "The image of the program. It has no default." : "The image of the program.", {
    registry: text("Registry, for example `registry.example`."),
    repository: text("Repository.", name ?? "", name === undefined ? {} : { minLength: 1 }),
    tag: text(name === undefined ? "Tag." : "Tag. Default: the version of the chart's application."),
    digest: text("Digest, instead of the tag.", "", { pattern: "^(sha256:[0-9a-f]{64})?$" }),
    pullPolicy: choice("Pull policy.", "IfNotPresent", ["Always", "IfNotPresent", "Never"]),
  });
}

/** The values of every chart that runs a program of ours. */
export function podValues(image: string, resources: object): Values {
  return {
    ...workloadValues(resources, image),
    serviceAccount: group("The service account.", { annotations: labels("Its annotations.") }),
    test: group("The test of `helm test`.", {
      image: text("Image with `node` on its path. Default: the image of the program."),
    }),
  };
}

/** The image of a workload, and where and how its pods run. */
export function workloadValues(resources: object, image?: string): Values {
  return {
    image: imageValues(image),
    imagePullSecrets: PULL_SECRETS,
    resources: object("Requests and limits of the container.", resources),
    nodeSelector: labels("Labels of the nodes to run on."),
    tolerations: list("Tolerations of the pods.", { type: "object" }),
    affinity: object("Affinity of the pods."),
    topologySpreadConstraints: list("How pods are spread. Default: over nodes, if possible.", {
      type: "object",
      required: ["maxSkew", "topologyKey", "whenUnsatisfiable"],
    }),
    priorityClassName: text("Priority class of the pods."),
    extraEnv: list(
      "More environment variables, for example `NODE_EXTRA_CA_CERTS`. Settings of the program belong into `settings`.",
      { type: "object", required: ["name"], properties: { name: { type: "string", minLength: 1 } } },
    ),
    extraVolumes: list("More volumes of the pods.", {
      type: "object",
      required: ["name"],
      properties: { name: { type: "string", pattern: "^[a-z0-9]([a-z0-9-]*[a-z0-9])?$" } },
    }),
    extraVolumeMounts: list("More mounts of the container.", {
      type: "object",
      required: ["name", "mountPath"],
      properties: { name: { type: "string", minLength: 1 }, mountPath: { type: "string", pattern: "^/" } },
    }),
    podLabels: labels("More labels of the pods."),
    podAnnotations: labels("More annotations of the pods."),
  };
}

const NAME = { type: "string", minLength: 1, maxLength: 253 };

/** A reference to a Gateway, as the Gateway API defines it. */
const PARENT_REF = {
  type: "object",
  additionalProperties: false,
  required: ["name"],
  properties: {
    name: NAME,
    namespace: { type: "string", minLength: 1, maxLength: 63 },
    sectionName: NAME,
    port: { type: "integer", minimum: 1, maximum: 65_535 },
    group: { type: "string", maxLength: 253 },
    kind: { type: "string", minLength: 1, maxLength: 63 },
  },
};

/** DNS names, also with a wildcard as the first label. */
const HOST_NAME = "^(\\*\\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$";

/** Access to an HTTP API from outside of the cluster. */
export const routeValues = (
  ofAnnotations: string,
): { readonly ingress: ValueGroup; readonly httpRoute: ValueGroup } => ({
  ingress: group("An Ingress.", {
    enabled: flag("Creates it.", false),
    className: text("Ingress class."),
    host: text("Host name."),
    tlsSecretName: text("Secret with the certificate of the host."),
    annotations: labels(`Its annotations.${ofAnnotations}`),
  }),
  httpRoute: group("An HTTPRoute of the Gateway API.", {
    enabled: flag("Creates it.", false),
    parentRefs: list("Gateways: `name`, and optionally `namespace`, `sectionName` (a listener), `port`.", PARENT_REF),
    hostnames: list("Host names.", { type: "string", maxLength: 253, pattern: HOST_NAME }),
  }),
});

export function networkPolicy(who: string, from: string): ValueGroup {
  return group("The NetworkPolicy.", {
    enabled: flag(`Admits ${who} only.`, true),
    from: list(from, { type: "object" }),
  });
}

export const metricsValues = (monitor: string): { readonly metrics: ValueGroup } => ({
  metrics: group("Metrics on a port of their own, without credentials.", {
    enabled: flag(
      "Opens port 9088. Only pods named prometheus in namespaces with the label oaas.io/prometheus=true reach it.",
      true,
    ),
    monitor: group(`A ${monitor} of the Prometheus Operator.`, {
      enabled: flag("Creates it. Needs the CRDs of the operator.", false),
      labels: labels("More labels, for the selector of the operator."),
    }),
  }),
});

export const secretKey = (doc: string, key: string): ValueGroup =>
  group(doc, { name: text("Name of the Secret."), key: text("Key in the Secret.", key, { minLength: 1 }) });
