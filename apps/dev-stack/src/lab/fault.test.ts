import { expect, test } from "vitest";
import { parseFault } from "./fault.ts";

test.each([
  { body: { fault: "cluster-down", cluster: "edge" }, fault: { fault: "cluster-down", cluster: "edge" } },
  { body: { fault: "pm-killed" }, fault: { fault: "pm-killed" } },
  { body: { fault: "pm-killed", cluster: "nowhere" }, fault: { fault: "pm-killed" } },
])("parses $body", ({ body, fault }) => {
  expect(parseFault(body, ["edge"])).toEqual(fault);
});

test.each([
  { body: { fault: "earthquake", cluster: "edge" }, text: /\$\.fault.*cluster-down/s },
  { body: { fault: "partition", cluster: "nowhere" }, text: /\$\.cluster.*edge/s },
  { body: { fault: "partition" }, text: /\$\.cluster/ },
  { body: undefined, text: /\$\.fault/ },
  { body: "partition", text: /\$\.fault/ },
])("rejects $body and names the field", ({ body, text }) => {
  expect(() => parseFault(body, ["edge"])).toThrow(text);
});
