/**
 * The wire contract of proto files as one readable line per field, enum value and method.
 *
 * The input is the JSON form of `google.protobuf.FileDescriptorProto`, which both `buf build` and the generated code
 * provide, so that the stored baseline can be compared with either.
 */

/** Lines by number (fields, enum values) or name (methods), grouped by full type name. */
export interface DescriptorSnapshot {
  readonly messages: Entries;
  readonly enums: Entries;
  readonly services: Entries;
}

export type Entries = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** The fields of `google.protobuf.FileDescriptorProto` in JSON that are used here. */
export interface FileJson {
  readonly package?: string;
  readonly messageType?: readonly MessageJson[];
  readonly enumType?: readonly EnumJson[];
  readonly service?: readonly ServiceJson[];
}

interface MessageJson {
  readonly name: string;
  readonly field?: readonly FieldJson[];
  readonly nestedType?: readonly MessageJson[];
  readonly enumType?: readonly EnumJson[];
  readonly oneofDecl?: readonly { readonly name: string }[];
  readonly reservedRange?: readonly { readonly start?: number; readonly end?: number }[];
  readonly options?: { readonly mapEntry?: boolean };
}

interface FieldJson {
  readonly name: string;
  readonly number: number;
  readonly label: string;
  readonly type: string;
  readonly typeName?: string;
  readonly oneofIndex?: number;
  readonly proto3Optional?: boolean;
}

interface EnumJson {
  readonly name: string;
  readonly value?: readonly { readonly name: string; readonly number?: number }[];
}

interface ServiceJson {
  readonly name: string;
  readonly method?: readonly {
    readonly name: string;
    readonly inputType: string;
    readonly outputType: string;
    readonly clientStreaming?: boolean;
    readonly serverStreaming?: boolean;
  }[];
}

/** Describes every message, enum and service of the files. */
export function snapshotOf(files: readonly FileJson[]): DescriptorSnapshot {
  const snapshot = { messages: {}, enums: {}, services: {} } satisfies Record<string, MutableEntries>;
  for (const file of files) {
    const scope = file.package === undefined ? "" : `${file.package}.`;
    for (const message of file.messageType ?? []) addMessage(snapshot, scope, message);
    for (const declared of file.enumType ?? []) addEnum(snapshot.enums, scope, declared);
    for (const service of file.service ?? []) addService(snapshot.services, scope, service);
  }
  return snapshot;
}

type MutableEntries = Record<string, Record<string, string>>;

function addMessage(
  snapshot: { messages: MutableEntries; enums: MutableEntries },
  scope: string,
  message: MessageJson,
): void {
  const fullName = scope + message.name;
  const lines: Record<string, string> = {};
  for (const field of message.field ?? []) lines[field.number] = fieldLine(field, message, fullName);
  for (const { start = 0, end = 0 } of message.reservedRange ?? []) {
    for (let number = start; number < end; number++) lines[number] = "reserved";
  }
  snapshot.messages[fullName] = lines;
  for (const nested of message.nestedType ?? []) {
    if (nested.options?.mapEntry !== true) addMessage(snapshot, `${fullName}.`, nested);
  }
  for (const declared of message.enumType ?? []) addEnum(snapshot.enums, `${fullName}.`, declared);
}

function fieldLine(field: FieldJson, message: MessageJson, fullName: string): string {
  const entry = message.nestedType?.find(
    (nested) => nested.options?.mapEntry === true && field.typeName === `.${fullName}.${nested.name}`,
  );
  if (entry !== undefined) {
    const [key, value] = [...(entry.field ?? [])].sort((a, b) => a.number - b.number).map(typeOf);
    return `map<${key}, ${value}> ${field.name}`;
  }
  return `${labelOf(field, message)}${typeOf(field)} ${field.name}`;
}

function labelOf(field: FieldJson, message: MessageJson): string {
  if (field.label === "LABEL_REPEATED") return "repeated ";
  if (field.proto3Optional === true) return "optional ";
  const oneof = field.oneofIndex === undefined ? undefined : message.oneofDecl?.[field.oneofIndex];
  return oneof === undefined ? "" : `oneof ${oneof.name} `;
}

function typeOf(field: FieldJson): string {
  return field.typeName?.slice(1) ?? field.type.replace("TYPE_", "").toLowerCase();
}

function addEnum(enums: MutableEntries, scope: string, declared: EnumJson): void {
  enums[scope + declared.name] = Object.fromEntries(
    (declared.value ?? []).map((value) => [String(value.number ?? 0), value.name]),
  );
}

function addService(services: MutableEntries, scope: string, service: ServiceJson): void {
  services[scope + service.name] = Object.fromEntries(
    (service.method ?? []).map((method) => {
      const input = `${method.clientStreaming === true ? "stream " : ""}${method.inputType.slice(1)}`;
      const output = `${method.serverStreaming === true ? "stream " : ""}${method.outputType.slice(1)}`;
      return [method.name, `${input} -> ${output}`];
    }),
  );
}
