import { create, toBinary } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { DeployRequestSchema, DeploymentUnitSchema } from "@oaas/contracts/grpc";

/** A protobuf message that is small to send and expensive for a careless reader. */
export interface MessageBomb {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** The field of the unit in a DeployRequest. */
const UNIT = DeployRequestSchema.fields.find(({ localName }) => localName === "deploymentUnit")?.number ?? 0;

/** Requests to deploy a unit, each of about this many bytes. */
export function deployBombs(bytes: number): readonly MessageBomb[] {
  const member = (name: string): number =>
    DeploymentUnitSchema.fields.find(({ localName }) => localName === name)?.number ?? 0;
  const text = "x".repeat(bytes);
  return [
    { name: "empty functions", bytes: repeated(member("functions"), new Uint8Array(0), bytes) },
    { name: "functions with unknown enums", bytes: repeated(member("functions"), fields([[2, "99"]]), bytes) },
    { name: "empty bindings", bytes: repeated(member("functionBindings"), new Uint8Array(0), bytes) },
    { name: "unknown fields", bytes: repeated(1000, new Uint8Array(0), bytes) },
    {
      name: "packed node ids",
      bytes: unitOf({ odgmConfig: { envNodeIds: { a: { ids: Array.from({ length: bytes }, () => 1n) } } } }),
    },
    { name: "long id", bytes: unitOf({ id: text }) },
    { name: "long key of settings", bytes: unitOf({ functions: [{ functionKey: "f", config: { [text]: "v" } }] }) },
    { name: "groups without an end", bytes: new Uint8Array(bytes).fill(0x0b) },
    { name: "zeros", bytes: new Uint8Array(bytes) },
    { name: "ones", bytes: new Uint8Array(bytes).fill(0xff) },
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
