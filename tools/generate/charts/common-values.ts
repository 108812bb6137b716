import { choice, flag, group, labels, list, object, text, type ValueGroup, type Values } from "./model.ts";

const PULL_SECRETS = list("Secrets for the registry: `[{name}]`.", {
  type: "object",
  required: ["name"],
  properties: { name: { type: "string" } },
  additionalProperties: false,
});

/** Rejects variables that the chart sets: the last one of a name would win, for example one that disables authentication. */
export function extraEnvTemplate(helper: string, managed: readonly string[]): string {
  return [
    "{{- /* Generated from tools/generate/charts by `npm run generate`. Do not edit. */}}",
    `{{- define "${helper}.extraEnv" -}}`,
    `{{- $own := list ${managed.map((name) => `"${name}"`).join(" ")} }}`,
    "{{- range .Values.extraEnv }}",
    '{{- if or (has .name $own) (has (trimSuffix "_FILE" .name) $own) }}',
    '{{- fail (printf "extraEnv sets %s, which the chart sets itself: use the value of the chart for it" .name) }}',
    "{{- end }}",
    "{{- end }}",
    "{{- with .Values.extraEnv }}{{ toYaml . }}{{ end }}",
    "{{- end }}",
    "",
  ].join("\n");
}

/** The values of every chart that runs pods. */
export function podValues(image: string, resources: object): Values {
  return {
    image: group("The image of the program.", {
      registry: text("Registry, for example `registry.example`."),
      repository: text("Repository.", image, { minLength: 1 }),
      tag: text("Tag. Default: the version of the chart's application."),
      digest: text("Digest, instead of the tag.", "", { pattern: "^(sha256:[0-9a-f]{64})?$" }),
      pullPolicy: choice("Pull policy.", "IfNotPresent", ["Always", "IfNotPresent", "Never"]),
    }),
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
    serviceAccount: group("The service account.", { annotations: labels("Its annotations.") }),
    test: group("The test of `helm test`.", {
      image: text("Image with `node` on its path. Default: the image of the program."),
    }),
  };
}

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
