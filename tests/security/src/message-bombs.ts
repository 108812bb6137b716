import { gzipSync } from "node:zlib";
import { create, toBinary } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { CreatePackageRequestSchema, DeployRequestSchema, DeploymentUnitSchema } from "@oaas/contracts/grpc";
import { encodeFrame } from "../../../apps/class-runtime-manager/test/support/raw-grpc.ts";

/** A framed protobuf message that is small to send and expensive for a careless reader. */
export interface MessageBomb {
  readonly name: string;
  readonly frame: Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Bombs for any method, each of about this many bytes. */
export function anyMethodBombs(bytes: number): readonly MessageBomb[] {
  const zeros = gzipSync(Buffer.alloc(bytes * 100));
  const text = (content: number): Uint8Array =>
    new BinaryWriter().tag(1, WireType.LengthDelimited).bytes(new Uint8Array(bytes).fill(content)).finish();
  return [
    framed("field 1 repeated", pattern([0x0a, 0], bytes)),
    framed("field 2 repeated", pattern([0x12, 0], bytes)),
    framed("unknown field repeated", pattern([0xf8, 0x7f, 0], bytes)),
    framed("nested messages", nestedMessages(bytes)),
    framed("groups without an end", new Uint8Array(bytes).fill(0x0b)),
    framed("text of letters", text(0x61)),
    framed("text of zeros", text(0)),
    framed("text of dashes", text(0x2d)),
    framed("text that is not UTF-8", text(0xff)),
    { name: "declared length of 4 GiB", frame: encodeFrame(new Uint8Array(16), { says: 0xffff_ffff }) },
    { name: "gzip of zeros", frame: encodeFrame(zeros, { flag: 1 }), headers: { "grpc-encoding": "gzip" } },
  ];
}

/** Requests to create a package, each of about this many bytes. */
export function createPackageBombs(bytes: number): readonly MessageBomb[] {
  const packageOf = (content: object): Uint8Array =>
    toBinary(CreatePackageRequestSchema, create(CreatePackageRequestSchema, { package: { name: "p", ...content } }));
  const empty = Array.from({ length: bytes / 2 }, () => ({}));
  return [
    framed("empty classes", packageOf({ classes: empty })),
    framed("empty functions", packageOf({ functions: empty })),
    framed("empty bindings", packageOf({ classes: [{ key: "C", functions: empty }] })),
    framed("long name", packageOf({ name: "x".repeat(bytes) })),
  ];
}

function framed(name: string, message: Uint8Array): MessageBomb {
  return { name, frame: encodeFrame(message) };
}

function pattern(unit: readonly number[], bytes: number): Uint8Array {
  return Buffer.alloc(bytes - (bytes % unit.length), Buffer.from(unit));
}

/** Messages in field 1 inside each other, as deep as fits. Each level adds a tag and the length of what it contains. */
function nestedMessages(bytes: number): Uint8Array {
  const heads: Uint8Array[] = [];
  for (let inner = 0; inner < bytes;) {
    const head = new BinaryWriter().tag(1, WireType.LengthDelimited).uint32(inner).finish();
    heads.push(head);
    inner += head.length;
  }
  return Buffer.concat(heads.toReversed());
}

/** The field of the unit in a DeployRequest. */
const UNIT = DeployRequestSchema.fields.find(({ localName }) => localName === "deploymentUnit")?.number ?? 0;

/** Requests to deploy a unit, each of about this many bytes. */
export function deployBombs(bytes: number): readonly MessageBomb[] {
  const member = (name: string): number =>
    DeploymentUnitSchema.fields.find(({ localName }) => localName === name)?.number ?? 0;
  const text = "x".repeat(bytes);
  return [
    framed("empty functions", repeated(member("functions"), new Uint8Array(0), bytes)),
    framed("functions with unknown enums", repeated(member("functions"), fields([[2, "99"]]), bytes)),
    framed("empty bindings", repeated(member("functionBindings"), new Uint8Array(0), bytes)),
    framed("unknown fields", repeated(1000, new Uint8Array(0), bytes)),
    framed(
      "packed node ids",
      unitOf({ odgmConfig: { envNodeIds: { a: { ids: Array.from({ length: bytes }, () => 1n) } } } }),
    ),
    framed("long id", unitOf({ id: text })),
    framed("long key of settings", unitOf({ functions: [{ functionKey: "f", config: { [text]: "v" } }] })),
    framed("groups without an end", new Uint8Array(bytes).fill(0x0b)),
    framed("zeros", new Uint8Array(bytes)),
    framed("ones", new Uint8Array(bytes).fill(0xff)),
  ];
}

function unitOf(unit: Parameters<typeof create<typeof DeploymentUnitSchema>>[1]): Uint8Array {
  return toBinary(DeployRequestSchema, create(DeployRequestSchema, { deploymentUnit: unit }));
}

function fields(values: readonly (readonly [number, string])[]): Uint8Array {
  const writer = new BinaryWriter();
  for (const [number, value] of values) writer.tag(number, WireType.LengthDelimited).string(value);
  return writer.finish();
}

/** A unit with one field as often as it fits. */
function repeated(number: number, item: Uint8Array, bytes: number): Uint8Array {
  const one = new BinaryWriter().tag(number, WireType.LengthDelimited).bytes(item).finish();
  const many = new Uint8Array(Math.floor(bytes / one.length) * one.length);
  for (let at = 0; at < many.length; at += one.length) many.set(one, at);
  return new BinaryWriter().tag(UNIT, WireType.LengthDelimited).bytes(many).finish();
}
