import { expect, test } from "vitest";
import { readRecord, recordText } from "./stack-record.ts";

const record = {
  pid: 7,
  version: "0.1.0",
  since: "2026-01-01T00:00:00.000Z",
  pageUrl: "http://127.0.0.1:1",
  secret: "s",
};

test("parses a formatted record", () => {
  expect(readRecord(recordText(record))).toEqual(record);
});

test.each(["", "{ half", "null", "[]", "{}", JSON.stringify({ ...record, pid: "7" }), '{"pid":7,"version":"1"}'])(
  "rejects %j",
  (text) => {
    expect(readRecord(text)).toBeUndefined();
  },
);
