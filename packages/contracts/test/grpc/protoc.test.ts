import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { create, equals, fromBinary, isFieldSet, toBinary, type DescMessage, type Message } from "@bufbuild/protobuf";
import { nestedTypes } from "@bufbuild/protobuf/reflect";
import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { componentFile, describeWith, sweepSize } from "@oaas/testkit";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FILE_DESCRIPTORS, NfrRequirementsSchema } from "../../src/grpc/index.ts";
import { anyMessage, everyCase } from "./any-message.ts";
import { textOf } from "./text-format.ts";

const PROTO_FOLDER = fileURLToPath(new URL("../../proto", import.meta.url));
const PROTO_FILES = readdirSync(PROTO_FOLDER, { recursive: true, encoding: "utf8" }).filter((f) =>
  f.endsWith(".proto"),
);
const SEED = 20_260_305;

const MESSAGES = FILE_DESCRIPTORS.flatMap((file) => [...nestedTypes(file)]).filter((desc) => desc.kind === "message");

/** One message per type that holds many of it, so that one run of protoc reads or writes a whole batch. */
const BATCH_PROTO = [
  'syntax = "proto3";',
  "package batch;",
  ...FILE_DESCRIPTORS.map(({ name }) => `import "${name}.proto";`),
  ...MESSAGES.map((message, index) => `message Batch${index} { repeated .${message.typeName} items = 1; }`),
].join("\n");

/** A program that we did not write reads what we write, and we read what it writes. */
describeWith(["protoc"], "protoc and our code agree on the wire", () => {
  let folder = "";

  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), "oaas-protoc-"));
    writeFileSync(path.join(folder, "batch.proto"), BATCH_PROTO);
    protoc(["-I", PROTO_FOLDER, "-I", folder, "--include_imports", `--descriptor_set_out=${set()}`, "batch.proto"]);
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const set = (): string => path.join(folder, "set.binpb");

  /** Many values of a type as text, by protoc. */
  function decoded(index: number, schema: DescMessage, values: readonly Message[]): string {
    const writer = new BinaryWriter();
    for (const value of values) writer.tag(1, WireType.LengthDelimited).bytes(toBinary(schema, value));
    const args = [`--descriptor_set_in=${set()}`, `--decode=batch.Batch${index}`, "batch.proto"];
    return protoc(args, writer.finish()).toString("utf8");
  }

  /** Many values of a type from text, by protoc. */
  function encoded(index: number, schema: DescMessage, text: string): Message[] {
    const args = [`--descriptor_set_in=${set()}`, `--encode=batch.Batch${index}`, "batch.proto"];
    const reader = new BinaryReader(protoc(args, Buffer.from(text)));
    const values: Message[] = [];
    while (reader.pos < reader.len) {
      reader.tag();
      values.push(fromBinary(schema, reader.bytes()));
    }
    return values;
  }

  test("compiles every file without a warning", () => {
    const { status, stderr } = run(["-I", PROTO_FOLDER, `--descriptor_set_out=${set()}.all`, ...PROTO_FILES]);
    expect({ status, stderr: stderr.toString("utf8") }).toEqual({ status: 0, stderr: "" });
  });

  describe.each(MESSAGES.map((schema, index) => ({ schema, index, name: schema.typeName })))("$name", (given) => {
    const { schema, index } = given;
    const values = [
      {},
      ...sample(anyMessage(schema, "every field"), sweepSize(4, 200)),
      ...sample(anyMessage(schema, "some fields"), sweepSize(8, 400)),
      ...everyCase(schema).flatMap((chosen) => sample(chosen, 1)),
    ].map((init) => create(schema, init));
    const texts = values.map((value) => `items {\n${textOf(schema, value, "  ")}}\n`).join("");

    test("the samples set every field, and omit every optional one", () => {
      const never = (set: boolean): string[] =>
        schema.fields.filter((field) => !values.some((value) => isFieldSet(value, field) === set)).map(String);
      expect({ set: never(true), absent: never(false) }).toEqual({ set: [], absent: [] });
    });

    test("protoc decodes every field of our bytes", () => {
      expect(decoded(index, schema, values)).toBe(texts);
    });

    test("we decode every field of protoc's bytes", () => {
      const read = encoded(index, schema, texts);
      const differing = values.filter((value, n) => !equals(schema, value, read[n] ?? create(schema)));
      expect(differing).toEqual([]);
      expect(read).toHaveLength(values.length);
    });
  });

  test("extreme numbers round-trip", () => {
    const index = MESSAGES.findIndex((message) => message.typeName === NfrRequirementsSchema.typeName);
    const hard = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0.1 + 0.2, 5e-324, 1.7e308, 0];
    const values = hard.map((availability) => create(NfrRequirementsSchema, { availability }));
    const read = encoded(index, NfrRequirementsSchema, decoded(index, NfrRequirementsSchema, values));
    expect(read.map((message) => (message as (typeof values)[number]).availability)).toEqual(hard);
  });
});

/** The same values in every run, so that a failure is there again. */
function sample<T>(values: fc.Arbitrary<T>, numRuns: number): T[] {
  return fc.sample(values, { seed: SEED, numRuns });
}

function run(args: readonly string[], input?: Uint8Array): { status: number | null; stdout: Buffer; stderr: Buffer } {
  return spawnSync(componentFile("protoc"), args, {
    maxBuffer: 256 * 1024 * 1024,
    timeout: 60_000,
    ...(input && { input }),
  });
}

function protoc(args: readonly string[], input?: Uint8Array): Buffer {
  const { status, stdout, stderr } = run(args, input);
  if (status !== 0) throw new Error(`protoc ${args.join(" ")} ended with ${status}: ${stderr.toString("utf8")}`);
  return stdout;
}
