import { GROUP, KINDS } from "@oaas/contracts/crd";
import { crdFile } from "../contracts/crds.ts";
import { flag, type Chart } from "./model.ts";

/** The CRDs as templates, so that `helm upgrade` updates them; Helm never updates those in a folder `crds`. */
function crdTemplates(): Record<string, string> {
  return Object.fromEntries(KINDS.map((kind) => [`templates/${kind.plural}.${GROUP}.yaml`, crdTemplate(kind)]));
}

function crdTemplate(kind: (typeof KINDS)[number]): string {
  const manifest = crdFile(kind).replaceAll(/\{\{|\}\}/g, (braces) => `{{ "${braces}" }}`);
  const annotations = [
    "  annotations:",
    "    {{- if .Values.keep }}",
    "    # Deleting a CRD deletes all of its objects.",
    "    helm.sh/resource-policy: keep",
    "    {{- end }}",
    "    app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}",
  ].join("\n");
  const [before = "", after = ""] = manifest.split("\nmetadata:\n");
  if (after === "") throw new Error(`the CRD ${kind.plural} has no metadata`);
  return `${before}\nmetadata:\n${annotations}\n${after}`;
}

export const crdsChart: Chart = {
  name: "oaas-crds",
  description: "The custom resource definitions of OaaS",
  keywords: ["crd"],
  images: [],
  values: { keep: flag("Keeps the definitions, and with them all classes, when the release is uninstalled.", true) },
  readme: [
    "Install it before the class runtime manager, once per cluster, and upgrade it first: stored objects stay valid, and",
    "new fields are optional. `helm uninstall` leaves the definitions in the cluster. To delete them with all classes:",
    "",
    "```sh example",
    "kubectl delete crd classruntimes.oaas.io deploymentrecords.oaas.io deploymenttemplates.oaas.io environmentconfigs.oaas.io",
    "```",
  ].join("\n"),
  files: crdTemplates(),
};
