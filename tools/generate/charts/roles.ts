import { readFileSync } from "node:fs";
import path from "node:path";
import { parse, parseAllDocuments, stringify, type Document } from "yaml";

const HEADER = "{{- /* Generated from deploy/class-runtime-manager by `npm run generate`. Do not edit. */}}\n";

/** The role and binding in the namespace of routers, which can be another one than that of the release. */
const ROUTERS = "oprc-crm-routers";
const ROUTER_NAMESPACE = "{{ .Values.routers.namespace | default .Release.Namespace }}";

/** The optional permissions: the Kustomize component, and the value of the chart that selects it. */
const COMPONENTS = [
  { folder: "create-namespaces", condition: ".Values.permissions.createNamespaces" },
  { folder: "check-secrets", condition: ".Values.permissions.checkSecrets" },
  { folder: "invoke", condition: ".Values.permissions.invoke" },
  { folder: "self-signed-certificates", condition: 'eq .Values.certificates.provider "self-signed"' },
] as const;

interface AddedRule {
  readonly kind: string;
  readonly name: string;
  readonly condition: string;
  readonly rule: object;
}

interface ComponentFile {
  /** A patch without a target is a part of an object in a file. */
  readonly patches?: readonly {
    readonly target?: { readonly kind: string; readonly name: string };
    readonly patch?: string;
  }[];
}

/**
 * The roles and bindings of the class runtime manager as a template, from the Kustomize files: one source for both ways to
 * install it.
 */
export function rolesTemplate(root: string): string {
  const folder = path.join(root, "deploy", "class-runtime-manager");
  const read = (file: string): string => readFileSync(path.join(folder, file), "utf8");
  const added = COMPONENTS.flatMap(({ folder: component, condition }) =>
    addedRules(read(`${component}/kustomization.yaml`), condition),
  );
  const wholeCluster = parts(read("all-namespaces/cluster-role-binding.yaml"), added);
  const perNamespace = parts(read("in-namespace/role-binding.yaml"), added);
  const users = parts(read("base/user-roles.yaml"), added);
  const always = [...parts(read("base/roles.yaml"), added), ...parts(read("base/role-bindings.yaml"), added)];
  return [
    HEADER,
    always.join("---\n"),
    "{{- if .Values.namespaces.all }}\n---\n",
    wholeCluster.join("---\n"),
    "{{- else }}\n{{- range .Values.namespaces.list }}\n---\n",
    perNamespace
      .join("---\n")
      .replaceAll("{{ .Release.Namespace }}", "{{ $.Release.Namespace }}")
      .replace("  name: oprc-crm\n", "  name: oprc-crm\n  namespace: {{ . }}\n")
      .replaceAll('"oprc-crm.labels" .', '"oprc-crm.labels" $'),
    "{{- end }}\n{{- end }}\n{{- if .Values.userRoles.create }}\n---\n",
    users.join("---\n"),
    "{{- end }}\n",
  ].join("");
}

function parts(yaml: string, added: readonly AddedRule[]): string[] {
  return parseAllDocuments(yaml).map((document) => part(document, added));
}

/** One object with the labels and the namespace of the release. */
function part(document: Document.Parsed, added: readonly AddedRule[]): string {
  const { kind, metadata } = document.toJS() as { kind: string; metadata: { name: string } };
  const rules = added.filter((rule) => rule.kind === kind && rule.name === metadata.name);
  if (document.directives) document.directives.docStart = null;
  const own = document
    .toString({ lineWidth: 0, flowCollectionPadding: false })
    .replaceAll("namespace: oaas-system", "namespace: {{ .Release.Namespace }}");
  const labelled = own.includes("\n  labels:\n")
    ? own.replace("\n  labels:\n", '\n  labels:\n    {{- include "oprc-crm.labels" . | nindent 4 }}\n')
    : own.replace(
        `\n  name: ${metadata.name}\n`,
        `\n  name: ${metadata.name}\n  labels:\n    {{- include "oprc-crm.labels" . | nindent 4 }}\n`,
      );
  const placed =
    metadata.name === ROUTERS
      ? labelled.replace(`\n  name: ${ROUTERS}\n`, `\n  name: ${ROUTERS}\n  namespace: ${ROUTER_NAMESPACE}\n`)
      : labelled;
  return rules.reduce(
    (text, { condition, rule }) =>
      `${text}  {{- if ${condition} }}\n${indent(stringify([rule], { lineWidth: 0 }), 2)}  {{- end }}\n`,
    placed,
  );
}

/** The rules that a component adds by JSON patches. */
function addedRules(yaml: string, condition: string): AddedRule[] {
  const { patches = [] } = parse(yaml) as ComponentFile;
  return patches.flatMap(({ target, patch }) => {
    if (target === undefined || patch === undefined) return [];
    const operations = parse(patch) as readonly { readonly path: string; readonly value: object }[];
    return operations
      .filter((operation) => operation.path === "/rules/-")
      .map(({ value }) => ({ kind: target.kind, name: target.name, condition, rule: value }));
  });
}

function indent(text: string, by: number): string {
  return text.replaceAll(/^(?=.)/gm, " ".repeat(by));
}
