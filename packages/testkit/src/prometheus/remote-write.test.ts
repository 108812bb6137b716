import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encodeWriteRequest, snappyLiterals } from "./remote-write.ts";

/** Decodes the literals of the snappy block format, in every length form. */
function unsnappy(packed: Buffer): Buffer {
  let at = 0;
  let length = 0;
  for (let shift = 0; ; shift += 7) {
    const byte = packed[at++]!;
    length |= (byte & 0x7f) << shift;
    if (byte < 0x80) break;
  }
  const parts: Buffer[] = [];
  while (at < packed.length) {
    const tag = packed[at++]!;
    expect(tag & 3).toBe(0);
    const form = tag >> 2;
    const extra = form < 60 ? 0 : form - 59;
    const size = (extra === 0 ? form : packed.readUIntLE(at, extra)) + 1;
    at += extra;
    parts.push(packed.subarray(at, at + size));
    at += size;
  }
  const whole = Buffer.concat(parts);
  expect(whole.length).toBe(length);
  return whole;
}

describe("snappyLiterals", () => {
  it("round-trips any content", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 2000 }), (content) => {
        expect(unsnappy(snappyLiterals(Buffer.from(content)))).toEqual(Buffer.from(content));
      }),
    );
  });

  it.each([65_535, 65_536, 65_537, 200_000])("splits %i bytes into chunks", (size) => {
    const content = Buffer.alloc(size, "x");
    expect(unsnappy(snappyLiterals(content)).equals(content)).toBe(true);
  });
});

describe("encodeWriteRequest", () => {
  it("sorts labels by name and writes the expected bytes", () => {
    const bytes = unsnappy(
      Buffer.from(encodeWriteRequest([{ labels: { b: "2", __name__: "x" }, samples: [{ atMs: 300, value: 1 }] }])),
    );
    // TimeSeries{Label{"__name__","x"}, Label{"b","2"}, Sample{1.0, 300}}
    const expected = [
      "0a25",
      "0a0d0a085f5f6e616d655f5f120178",
      "0a060a0162120132",
      "120c09000000000000f03f10ac02",
    ].join("");
    expect(bytes.toString("hex")).toBe(expected);
  });
});
