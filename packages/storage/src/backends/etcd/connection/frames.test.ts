import fc from "fast-check";
import { expect, test } from "vitest";
import { frame, FrameReader } from "./frames.ts";

test("decodes messages from any split of the bytes", () => {
  const messages = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 8 });
  fc.assert(
    fc.property(messages, fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1 }), (sent, cuts) => {
      const bytes = Buffer.concat(sent.map(frame));
      const reader = new FrameReader();
      const received: Buffer[] = [];
      for (let at = 0, cut = 0; at < bytes.length; cut += 1) {
        const length = cuts[cut % cuts.length] as number;
        received.push(...reader.push(bytes.subarray(at, at + length)));
        at += length;
      }
      expect(received.map((message) => [...message])).toEqual(sent.map((message) => [...message]));
    }),
  );
});
