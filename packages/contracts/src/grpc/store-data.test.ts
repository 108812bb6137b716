import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { ObjectMetaEnvelopeSchema } from "../gen/oprc-data_pb.ts";
import { readObjectPage } from "./store-data.ts";

async function* envelopes(...all: readonly { objectId: string; nextCursor?: Uint8Array }[]) {
  for (const one of all) yield create(ObjectMetaEnvelopeSchema, { version: 1n, entryCount: 2n, ...one });
}

const CURSOR = Uint8Array.of(7);
const object = (id: string) => ({ id, version: 1n, entryCount: 2n });

test.each([
  { why: "a page without objects", given: [], want: { objects: [] } },
  {
    why: "the last page",
    given: [{ objectId: "a" }, { objectId: "b" }],
    want: { objects: [object("a"), object("b")] },
  },
  {
    why: "a cursor with the last object",
    given: [{ objectId: "a", nextCursor: CURSOR }],
    want: { objects: [object("a")], cursor: CURSOR },
  },
  {
    why: "a cursor alone is not an object",
    given: [{ objectId: "a" }, { objectId: "", nextCursor: CURSOR }],
    want: { objects: [object("a")], cursor: CURSOR },
  },
  {
    why: "an empty cursor ends the list",
    given: [{ objectId: "a", nextCursor: new Uint8Array() }],
    want: { objects: [object("a")] },
  },
])("reads $why", async ({ given, want }) => expect(await readObjectPage(envelopes(...given))).toEqual(want));
