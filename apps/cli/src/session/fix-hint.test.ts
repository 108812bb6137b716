import { Fault, unavailable } from "@oaas/foundation";
import { expect, it } from "vitest";
import { fixHint, tokenExpiry } from "./fix-hint.ts";

const NOW = Date.parse("2026-01-01T12:00:00Z");
const context = { name: "prod", pmUrl: "https://pm.example.test" };
const jwt = (exp: number): string => `e30.${Buffer.from(JSON.stringify({ exp })).toString("base64url")}.x`;

it.each([
  ["no token", undefined, /^no token is saved.*oaas login --name prod https:\/\/pm\.example\.test$/],
  ["an expired token", jwt(NOW / 1000 - 3 * 3600), /^the token expired 3h ago; log in again: oaas login/],
  ["a token that has not expired", jwt(NOW / 1000 + 60), /rejected the saved token/],
  ["an opaque token", "opaque", /rejected the saved token/],
])("suggests a login command for %s", (_, token, words) => {
  const fault = new Fault({ kind: "unauthenticated" }, "unauthenticated");
  expect(fixHint(fault, { ...context, ...(token === undefined ? {} : { token }) }, NOW)).toMatch(words);
});

it("names the address of an unreachable package manager, and has no hint for an unreachable cluster", () => {
  expect(fixHint(unavailable("package-manager", "x"), context, NOW)).toMatch(
    /cannot connect to https:\/\/pm\.example\.test \(context prod\)/,
  );
  expect(fixHint(unavailable("cluster edge", "x"), context, NOW)).toBeUndefined();
});

it("reads the expiry of a JWT only", () => {
  expect(tokenExpiry(jwt(5))).toBe(5000);
  expect(tokenExpiry("a.b.c")).toBeUndefined();
});
