import path from "node:path";
import type { Generator } from "../generator.ts";
import {
  indexOf,
  type Documented,
  type FieldJson,
  type ImageFile,
  type Index,
  type ServiceJson,
} from "./grpc-image.ts";
import { table } from "./markdown.ts";
import { buf } from "../contracts/protos.ts";
import { nameOf, nodesWith, type SyntaxNode } from "./syntax.ts";

/** The reference page of our gRPC services, from the descriptors and from the calls that bind services. */
export const generator: Generator = {
  name: "grpc-reference",
  produce: async (root) => {
    const image = await buf(root, ["build", path.join(root, "packages/contracts"), "--output", "-#format=json"]);
    const { file } = JSON.parse(image) as { file: ImageFile[] };
    return new Map([["docs/reference/grpc.md", grpcReference(indexOf(file), boundServices(root))]]);
  },
};

const SERVERS = {
  "class runtime manager": "apps/class-runtime-manager",
  "package manager (`GRPC_PORT`)": "apps/package-manager",
  both: "packages/rpc",
} as const;
type Server = keyof typeof SERVERS;

/** The program that serves each service, by the short name in the code. */
export function boundServices(root: string): ReadonlyMap<string, Server> {
  const found = new Map<string, Server>();
  for (const [server, folder] of Object.entries(SERVERS)) {
    const sources = nodesWith(root, [`${folder}/src/**/*.ts`], "bindService(");
    for (const name of [...sources.values()].flat().flatMap(boundName)) found.set(name, server as Server);
  }
  return found;
}

function boundName(node: SyntaxNode): string[] {
  if (node.type !== "CallExpression" || nameOf(node["callee"]) !== "bindService") return [];
  const [service] = node["arguments"] as readonly SyntaxNode[];
  const name = service?.type === "MemberExpression" ? nameOf(service["property"]) : nameOf(service);
  return name === undefined ? [] : [name];
}

/** The details of a failed call. */
const FAULT = "oaas.common.FaultStatus";

/** Standard services, documented elsewhere. */
const STANDARD = /^\.?grpc\./;

export function grpcReference(index: Index, bound: ReadonlyMap<string, Server>): string {
  const all = [...index.services.values()];
  const serverOf = ({ value }: Documented<ServiceJson>) => bound.get(value.name);
  const served = all.filter((service) => serverOf(service) !== undefined);
  const own = served.filter(({ name }) => !STANDARD.test(name));
  const others = all.filter((service) => serverOf(service) === undefined && !STANDARD.test(service.name));
  return [
    INTRODUCTION,
    "## Services\n",
    table(
      ["Service", "Served by", "Purpose"],
      served.map((service) => [
        STANDARD.test(service.name) ? `\`${service.name}\`` : `[${service.name}](#${anchor(service.name)})`,
        serverOf(service) ?? "",
        service.comment,
      ]),
    ),
    "",
    `In the contract, but served by the data plane or not implemented: ${others.map(({ name }) => `\`${name}\``).join(", ")}.\n`,
    ...own.map((service) => serviceSection(service)),
    "## Messages\n",
    ...reachable(own, index).map((name) => typeSection(name, index)),
  ].join("\n");
}

const INTRODUCTION = `# gRPC

<!-- Generated from packages/contracts/proto by \`npm run generate\`. Do not edit. -->

The class runtime manager serves gRPC on its HTTP port (\`HTTP_PORT\`, 8088), without TLS as h2c; the package
manager on \`GRPC_PORT\`, if set. Both support server reflection, so that \`grpcurl\` needs no proto files.

- **Errors** are status codes ([errors](errors.md)); the trailing metadata \`oaas-fault-bin\` contains the details as a
  [FaultStatus](#oaascommonfaultstatus).
- **\`x-correlation-id\`** in the metadata is propagated to every process and log line, and returned. **Deadlines** and
  cancellation are propagated to the calls to Kubernetes.
- **Bearer tokens** are sent in \`authorization\`. Health and reflection require none; with mutual TLS only health is
  available without a certificate.
- Field numbers below 100 are those of the earlier implementation and never change. Later additions have numbers from 100,
  which earlier peers ignore.
`;

function serviceSection({ name, value, comment, commentOf }: Documented<ServiceJson>): string {
  const rows = value.method.map((method, index) => [
    `\`${method.name}\``,
    `${method.clientStreaming === true ? "stream of " : ""}${typeLink(method.inputType)}`,
    `${method.serverStreaming === true ? "stream of " : ""}${typeLink(method.outputType)}`,
    commentOf("method", index),
  ]);
  return `## ${name}\n\n${comment}\n\n${table(["Method", "Request", "Response", "Meaning"], rows)}\n`;
}

function typeSection(name: string, { messages, enums }: Index): string {
  const message = messages.get(name);
  if (message !== undefined) {
    const rows = (message.value.field ?? []).map((field, at) => [
      String(field.number),
      `\`${field.name}\``,
      fieldType(field, messages),
      message.commentOf("field", at),
    ]);
    const body = rows.length === 0 ? "No fields." : table(["Number", "Field", "Type", "Meaning"], rows);
    return `### ${name}\n\n${message.comment === "" ? "" : `${message.comment}\n\n`}${body}\n`;
  }
  const each = enums.get(name);
  const values = (each?.value.value ?? []).map(({ name: word, number = 0 }) => `\`${word}\` = ${number}`);
  return `### ${name}\n\n${each?.comment ? `${each.comment} ` : ""}${values.join(", ")}.\n`;
}

function fieldType(field: FieldJson, messages: Index["messages"]): string {
  const repeated = field.label === "LABEL_REPEATED";
  const entry = messages.get(plain(field.typeName ?? ""));
  if (repeated && entry?.value.options?.mapEntry === true) {
    const [key, value] = entry.value.field ?? [];
    if (key !== undefined && value !== undefined) return `map from ${single(key)} to ${single(value)}`;
  }
  const optional = field.proto3Optional === true ? "optional " : field.oneofIndex === undefined ? "" : "one of, ";
  return `${repeated ? "list of " : optional}${single(field)}`;
}

function single({ type, typeName }: FieldJson): string {
  return typeName === undefined ? type.replace("TYPE_", "").toLowerCase() : typeLink(typeName);
}

/** Every type of ours that is reachable from these services, sorted by name. */
function reachable(services: readonly Documented<ServiceJson>[], { messages, enums }: Index): string[] {
  const found = new Set<string>();
  const visit = (typeName: string): void => {
    const name = plain(typeName);
    if (found.has(name) || STANDARD.test(name) || name.startsWith("google.")) return;
    if (enums.has(name)) found.add(name);
    const message = messages.get(name);
    if (message === undefined) return;
    if (message.value.options?.mapEntry !== true) found.add(name);
    for (const { typeName: inner } of message.value.field ?? []) if (inner !== undefined) visit(inner);
  };
  visit(FAULT);
  for (const { value } of services) {
    for (const { inputType, outputType } of value.method) [inputType, outputType].forEach(visit);
  }
  return [...found].toSorted();
}

function typeLink(typeName: string): string {
  const name = plain(typeName);
  if (STANDARD.test(name) || name.startsWith("google.")) return `\`${name}\``;
  return `[${name.split(".").at(-1)}](#${anchor(name)})`;
}

function plain(typeName: string): string {
  return typeName.replace(/^\./, "");
}

function anchor(name: string): string {
  return name.toLowerCase().replaceAll(".", "");
}
