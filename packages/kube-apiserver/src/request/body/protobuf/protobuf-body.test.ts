import { expect, test } from "vitest";
import { decodeProtobuf } from "./protobuf-body.ts";

const bytesOf = (number: number, value: Buffer): Buffer =>
  Buffer.concat([Buffer.from([(number << 3) | 2]), varint(value.length), value]);

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Buffer.from([...bytes, rest]);
    bytes.push((rest % 128) | 0x80);
  }
}

function body(kind: string, message: Buffer): string {
  const type = Buffer.concat([bytesOf(1, Buffer.from("v1")), bytesOf(2, Buffer.from(kind))]);
  return Buffer.concat([Buffer.from("k8s\0"), bytesOf(1, type), bytesOf(2, message)]).toString("latin1");
}

/** An entry of a ConfigMap's data. */
const entry = (key: string, value: string): Buffer =>
  bytesOf(2, Buffer.concat([bytesOf(1, Buffer.from(key)), bytesOf(2, Buffer.from(value))]));

test("decodes maps, with every name", () => {
  const message = Buffer.concat([entry("a", "1"), entry("__proto__", "2"), entry("b", "3"), entry("a", "4")]);
  const read = decodeProtobuf(body("ConfigMap", message));
  expect(read.ok && Object.entries(read.value["data"] ?? {})).toEqual([
    ["a", "4"],
    ["__proto__", "2"],
    ["b", "3"],
  ]);
});

test("limits the values of a body", () => {
  const many = (count: number): string => body("ConfigMap", Buffer.alloc(2 * count, bytesOf(1, Buffer.alloc(0))));
  expect(decodeProtobuf(many(190_000))).toMatchObject({ ok: true });
  expect(decodeProtobuf(many(210_000))).toEqual({ ok: false, error: "the body has more than 200000 values" });
});

test("rejects a packed number without an end", () => {
  // spec.supplementalGroups of a Pod: PodSpec 14 (PodSecurityContext), its field 4.
  const groups = bytesOf(2, bytesOf(14, bytesOf(4, Buffer.alloc(100_000, 0xff))));
  expect(decodeProtobuf(body("Pod", groups))).toEqual({ ok: false, error: "proto: integer overflow" });
});

test("decodes repeated fields in order", () => {
  const containers = Array.from({ length: 20_000 }, (_, index) => bytesOf(2, bytesOf(1, Buffer.from(`c${index}`))));
  const read = decodeProtobuf(body("Pod", bytesOf(2, Buffer.concat(containers))));
  const names = read.ok ? (read.value["spec"] as { containers: { name: string }[] }).containers : [];
  expect(names.map(({ name }) => name)).toEqual(containers.map((_, index) => `c${index}`));
});
