import { Fault, unavailable } from "@oaas/foundation";
import { expect, it } from "vitest";
import { remedyOf, tokenEnd } from "./remedy.ts";

const NOW = Date.parse("2026-01-01T12:00:00Z");
const context = { name: "prod", pmUrl: "https://pm.example.test" };
const jwt = (exp: number): string => `e30.${Buffer.from(JSON.stringify({ exp })).toString("base64url")}.x`;

it.each([
  ["no token", undefined, /^no token is kept.*oaas login --name prod https:\/\/pm\.example\.test$/],
  ["an expired one", jwt(NOW / 1000 - 3 * 3600), /^the token expired 3h ago; log in again: oaas login/],
  ["one that is not over", jwt(NOW / 1000 + 60), /is not accepted/],
  ["one that does not tell", "opaque", /is not accepted/],
])("not logged in with %s", (_, token, words) => {
  const fault = new Fault({ kind: "unauthenticated" }, "who are you?");
  expect(remedyOf(fault, { ...context, ...(token === undefined ? {} : { token }) }, NOW)).toMatch(words);
});

it("a package manager that does not answer is named with its address; a cluster that does not is another matter", () => {
  expect(remedyOf(unavailable("package-manager", "x"), context, NOW)).toMatch(
    /nobody answers at https:\/\/pm\.example\.test \(context prod\)/,
  );
  expect(remedyOf(unavailable("cluster edge", "x"), context, NOW)).toBeUndefined();
});

it("only a JWT tells when it ends", () => {
  expect(tokenEnd(jwt(5))).toBe(5000);
  expect(tokenEnd("a.b.c")).toBeUndefined();
});
