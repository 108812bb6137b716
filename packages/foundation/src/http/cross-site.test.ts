import { describe, expect, test } from "vitest";
import { findCrossSiteProblem, isLoopbackHost, sentRequest, type CrossSiteRules } from "./cross-site.ts";

const problemOf = (headers: Readonly<Record<string, string>>, rules?: CrossSiteRules, method = "POST") =>
  findCrossSiteProblem(sentRequest({ method, headers }), rules)?.header;

describe("hosts", () => {
  test.each([
    "localhost",
    "localhost:8080",
    "LOCALHOST",
    "pm.localhost:80",
    "127.0.0.1:8080",
    "127.9.8.7",
    "[::1]",
    "[::1]:8080",
  ])("accepts %s", (host) => {
    expect(problemOf({ host })).toBeUndefined();
  });

  test.each([
    "evil.example",
    "evil.example:8080",
    "localhost.evil.example",
    "evillocalhost",
    "127.0.0.1.evil.example",
    "128.0.0.1",
    "10.0.0.1:8080",
    "0.0.0.0",
    "[::2]",
    "[::ffff:127.0.0.1].evil",
    "::1",
    "localhost:80:80",
    "user@localhost",
    "",
    " ",
  ])("rejects %j", (host) => {
    expect(problemOf({ host })).toBe("host");
  });

  test("accepts the authority of HTTP/2, and a request of HTTP/1.0 without a host", () => {
    expect(problemOf({ ":authority": "localhost:1" })).toBeUndefined();
    expect(problemOf({ ":authority": "evil.example" })).toBe("host");
    expect(problemOf({})).toBeUndefined();
  });

  test("accepts configured names, and addresses beyond loopback, which no page can rebind", () => {
    const rules = { hosts: ["pm.internal"], acceptsAddresses: true };
    for (const host of ["PM.internal:80", "10.0.0.1:8080", "[fe80::1]"])
      expect(problemOf({ host }, rules)).toBeUndefined();
    for (const host of ["x.pm.internal", "10.0.0.1.evil.example", "[evil]"])
      expect(problemOf({ host }, rules)).toBe("host");
    expect(problemOf({ host: "evil.example" }, { hosts: ["*"] })).toBeUndefined();
  });
});

describe("web pages", () => {
  const host = "localhost:8080";
  test.each([
    { headers: {}, case: "a program" },
    { headers: { origin: "http://localhost:8080", "sec-fetch-site": "same-origin" }, case: "a page of this server" },
    { headers: { "sec-fetch-site": "none" }, case: "a typed address" },
  ])("accepts $case", ({ headers }) => {
    expect(problemOf({ host, ...headers })).toBeUndefined();
  });

  test.each([
    "https://evil.example",
    "null",
    "http://localhost:3000",
    "http://localhost",
    "http://127.0.0.1:8080",
    "file://",
    "http://localhost:8080, https://evil.example",
    "",
  ])("rejects the origin %j", (origin) => {
    expect(problemOf({ host, origin })).toBe("origin");
  });

  test.each(["cross-site", "same-site", "", "same-origin, cross-site"])("rejects the site %j", (site) => {
    expect(problemOf({ host, "sec-fetch-site": site })).toBe("sec-fetch-site");
    expect(problemOf({ host, "sec-fetch-site": site }, {}, "GET")).toBe("sec-fetch-site");
  });

  test("accepts a link that a person follows, and nothing else that a page loads", () => {
    const visit = { host, "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" };
    expect(problemOf(visit, {}, "GET")).toBeUndefined();
    expect(problemOf(visit, {}, "POST"), "a form").toBe("sec-fetch-site");
    expect(problemOf({ ...visit, "sec-fetch-dest": "iframe" }, {}, "GET")).toBe("sec-fetch-site");
    expect(problemOf({ ...visit, "sec-fetch-mode": "no-cors", "sec-fetch-dest": "script" }, {}, "GET")).toBe(
      "sec-fetch-site",
    );
  });

  test("accepts configured origins, at a loopback host only", () => {
    const headers = { origin: "https://console.example", "sec-fetch-site": "cross-site" };
    const rules = { origins: ["https://console.example"] };
    expect(problemOf({ host, ...headers }, rules)).toBeUndefined();
    expect(problemOf({ host, ...headers, origin: "https://other.example" }, rules)).toBe("origin");
    expect(problemOf({ host: "evil.example", ...headers }, rules)).toBe("host");
    expect(problemOf({ host, ...headers }, { origins: ["*"] })).toBeUndefined();
  });

  test("names the header, its value and the fix, and not more of a long value", () => {
    const { status, message, fix } =
      findCrossSiteProblem(sentRequest({ method: "GET", headers: { host: `${"x".repeat(5_000)}.example` } })) ?? {};
    expect([status, fix]).toEqual([421, expect.stringContaining("localhost")]);
    expect(message).toMatch(/^the host header is "xxx/);
    expect(message?.length).toBeLessThan(300);
  });
});

test("addresses that a server may listen on", () => {
  expect(["127.0.0.1", "::1", "localhost", "0.0.0.0", "::", "10.0.0.1"].map(isLoopbackHost)).toEqual([
    true,
    true,
    true,
    false,
    false,
    false,
  ]);
});
