import { openApiDocument } from "./document.ts";
import { expect, test } from "vitest";
import { referencePage } from "./reference-page.ts";

const document = openApiDocument("1.2.3");
const page = referencePage(document);
const ids = new Set([...page.matchAll(/id="([^"]+)"/g)].map(([, id]) => id));

test("has an anchor for every operation and schema, and a target for every link", () => {
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  for (const { operationId } of operations) expect(ids, operationId).toContain(operationId);
  for (const name of Object.keys(document.components["schemas"] ?? {})) expect(ids, name).toContain(`schema-${name}`);
  for (const [, target] of page.matchAll(/href="#([^"]+)"/g)) expect(ids, target).toContain(target);
});

test("describes parameters, members and responses, resolving references", () => {
  expect(page).toContain("nothing is written.");
  expect(page).toMatch(/<td><code>if-match<\/code><\/td><td>header<\/td><td>[^<]+/);
  expect(page).toContain('Body: <a href="#schema-OPackageInput">OPackageInput</a>');
  expect(page).not.toMatch(/undefined|\[object|NaN/);
  expect(page, "no scripts, no external resources").not.toMatch(/<script|src=|https?:/);
});
