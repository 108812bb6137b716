import { gzipSync } from "node:zlib";

/** A body that is small to send and expensive for a careless reader. */
export interface Bomb {
  readonly name: string;
  readonly type: string;
  readonly body: Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

const JSON_TYPE = "application/json";
const YAML_TYPE = "application/yaml";

/** Bombs of each text format with about this many bytes. */
export function textBombs(bytes: number): readonly Bomb[] {
  return [...jsonBombs(bytes), ...yamlBombs(bytes), ...otherBombs(bytes)];
}

function jsonBombs(bytes: number): readonly Bomb[] {
  const json = (name: string, body: string, encoding: BufferEncoding = "utf8"): Bomb => ({
    name: `JSON, ${name}`,
    type: JSON_TYPE,
    body: Buffer.from(body, encoding),
  });
  return [
    json("nested arrays", "[".repeat(bytes / 2) + "]".repeat(bytes / 2)),
    json("nested arrays without an end", "[".repeat(bytes)),
    json("nested objects", '{"a":'.repeat(bytes / 6) + "1" + "}".repeat(bytes / 6)),
    json("nested in a field", `{"name":"x","metadata":${'{"a":'.repeat(bytes / 6)}1${"}".repeat(bytes / 6)}}`),
    json("wrong items", `{"name":"x","functions":[${repeated("0", bytes)}]}`),
    json("empty items", `{"name":"x","functions":[${repeated("{}", bytes)}],"classes":[${repeated("{}", bytes / 4)}]}`),
    json("wrong bindings", `{"name":"x","classes":[{"key":"a","function_bindings":[${repeated("{}", bytes)}]}]}`),
    json("unknown members", `{"name":"x",${numbered(bytes, (at) => `"member${at}":0`)}}`),
    json("equal members", `{${repeated('"name":"x"', bytes)}}`),
    json(
      "many settings",
      `{"name":"x","functions":[{"key":"a","config":{${numbered(bytes, (at) => `"k${at}":"v"`)}}}]}`,
    ),
    json("long string", `{"name":"${"x".repeat(bytes)}"}`),
    json(
      "long image",
      `{"name":"x","functions":[{"key":"a","provision_config":{"container_image":"${"a/".repeat(bytes / 2)}"}}]}`,
    ),
    json("escapes", `{"name":"${"\\u0041".repeat(bytes / 6)}"}`),
    json("lone surrogates", `{"name":"${"\\ud800".repeat(bytes / 6)}"}`),
    json("confusable name", `{"name":"${"\u0430\u200d\u202e".repeat(bytes / 8)}"}`),
    json("long number", `{"name":"x","version":${"9".repeat(bytes)}}`),
    json("huge exponent", `[${repeated("1e999999999", bytes)}]`),
    json("spaces", `{"name":"x"${" ".repeat(bytes)}`),
    json("binary", Buffer.alloc(bytes, 0xff).toString("latin1"), "latin1"),
  ];
}

function yamlBombs(bytes: number): readonly Bomb[] {
  const yaml = (name: string, body: string): Bomb => ({
    name: `YAML, ${name}`,
    type: YAML_TYPE,
    body: Buffer.from(body),
  });
  return [
    yaml("wide flow mapping", `{name: x, ${numbered(bytes, (at) => `k${at}: v`)}}`),
    yaml(
      "wide mapping",
      numbered(bytes, (at) => `k${at}: v`, "\n"),
    ),
    yaml("wide sequence", repeated("- 0", bytes, "\n")),
    yaml("nested flow sequences", "[".repeat(bytes / 2) + "]".repeat(bytes / 2)),
    yaml("nested flow mappings", "{a: ".repeat(bytes / 5) + "}".repeat(bytes / 5)),
    yaml("nested block sequences", "- ".repeat(bytes / 2)),
    yaml("nested question marks", "? ".repeat(bytes / 2)),
    yaml("aliases of aliases", aliasesOfAliases()),
    yaml(
      "many anchors",
      numbered(bytes, (at) => `- &a${at} x`, "\n"),
    ),
    yaml("many aliases", `- &a x\n${repeated("- *a", bytes, "\n")}`),
    yaml("many documents", repeated("--- x", bytes, "\n")),
    yaml("many comments", repeated("# x", bytes, "\n")),
    yaml("many tags", repeated("- !!str x", bytes, "\n")),
    yaml("quoted line breaks", `"${"\n".repeat(bytes)}"`),
    yaml("folded text", `name: >\n${repeated("  x", bytes, "\n\n")}`),
    yaml("long indentation", `a:\n${" ".repeat(bytes)}b: 1`),
    yaml("merge keys", `a: &a {x: 1}\nb:\n${repeated("  <<: *a", bytes, "\n")}`),
  ];
}

function otherBombs(bytes: number): readonly Bomb[] {
  const zeros = gzipSync(Buffer.alloc(bytes * 100));
  return [
    { name: "gzip of zeros", type: JSON_TYPE, body: zeros, headers: { "content-encoding": "gzip" } },
    { name: "gzip in gzip", type: JSON_TYPE, body: gzipSync(zeros), headers: { "content-encoding": "gzip, gzip" } },
    {
      name: "multipart",
      type: "multipart/form-data; boundary=x",
      body: Buffer.from(repeated('--x\r\ncontent-disposition: form-data; name="a"\r\n\r\n1\r\n', bytes, "")),
    },
    { name: "form", type: "application/x-www-form-urlencoded", body: Buffer.from(repeated("a=1", bytes, "&")) },
    { name: "protobuf", type: "application/x-protobuf", body: Buffer.alloc(bytes, 0x0b) },
  ];
}

/** Ten levels of ten aliases: 10 billion values. */
function aliasesOfAliases(): string {
  const levels = Array.from({ length: 10 }, (_, at) => `a${at + 1}: &a${at + 1} [${repeated(`*a${at}`, 50)}]`);
  return ["a0: &a0 x", ...levels].join("\n");
}

/** The text as often as it fits. */
function repeated(text: string, bytes: number, separator = ","): string {
  return Array.from({ length: Math.ceil(bytes / (text.length + separator.length)) }, () => text).join(separator);
}

/** Different texts as often as they fit. */
function numbered(bytes: number, textOf: (at: number) => string, separator = ","): string {
  const length = textOf(10_000).length + separator.length;
  return Array.from({ length: Math.ceil(bytes / length) }, (_, at) => textOf(at)).join(separator);
}
