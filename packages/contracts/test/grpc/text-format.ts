import { ScalarType, type DescField, type DescMessage } from "@bufbuild/protobuf";
import { reflect, type ReflectMessage } from "@bufbuild/protobuf/reflect";
import type { Message } from "@bufbuild/protobuf";

/** The message in protobuf's text format, written as `protoc --decode` writes it. */
export function textOf(schema: DescMessage, message: Message, indent = ""): string {
  return textOfReflected(reflect(schema, message), indent);
}

function textOfReflected(message: ReflectMessage, indent: string): string {
  return message.sortedFields
    .filter((field) => message.isSet(field))
    .map((field) => fieldText(message, field, indent))
    .join("");
}

function fieldText(message: ReflectMessage, field: DescField, indent: string): string {
  switch (field.fieldKind) {
    case "message":
      return block(field.name, textOfReflected(message.get(field), `${indent}  `), indent);
    case "list":
      return [...message.get(field)].map((element) => elementText(field, field.name, element, indent)).join("");
    case "map": {
      const entries = [...message.get(field)].sort(([a], [b]) => compareKeys(a, b));
      return entries
        .map(([key, value]) => {
          const inner = `${indent}  `;
          const keyText = `${inner}key: ${scalarText(field.mapKey, key)}\n`;
          return block(field.name, keyText + elementText(field, "value", value, inner), indent);
        })
        .join("");
    }
    case "scalar":
    case "enum":
      return elementText(field, field.name, message.get(field), indent);
  }
}

function elementText(field: DescField, name: string, value: unknown, indent: string): string {
  if (field.message !== undefined) {
    return block(name, textOfReflected(value as ReflectMessage, `${indent}  `), indent);
  }
  const text =
    field.enum === undefined
      ? scalarText(field.scalar ?? ScalarType.STRING, value)
      : (field.enum.value[value as number]?.name ?? String(value));
  return `${indent}${name}: ${text}\n`;
}

function block(name: string, body: string, indent: string): string {
  return `${indent}${name} {\n${body}${indent}}\n`;
}

/** C++ sorts map entries by key: strings by their bytes. */
function compareKeys(a: unknown, b: unknown): number {
  return typeof a === "string" ? Buffer.compare(Buffer.from(a), Buffer.from(b as string)) : Number(a) - Number(b);
}

function scalarText(type: ScalarType, value: unknown): string {
  if (type === ScalarType.STRING) return quoted(Buffer.from(value as string));
  return type === ScalarType.BYTES ? quoted(value as Uint8Array) : String(value);
}

const ESCAPES: Readonly<Record<number, string>> = {
  0x0a: String.raw`\n`,
  0x0d: String.raw`\r`,
  0x09: String.raw`\t`,
  0x22: String.raw`\"`,
  0x27: String.raw`\'`,
  0x5c: "\\\\",
};

function quoted(bytes: Uint8Array): string {
  const characters = Array.from(bytes, (byte) => {
    const escape = ESCAPES[byte];
    if (escape !== undefined) return escape;
    return byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : `\\${byte.toString(8).padStart(3, "0")}`;
  });
  return `"${characters.join("")}"`;
}
