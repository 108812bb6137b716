import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { IMAGE_REFERENCE, parseImageReference } from "./image-reference.ts";

const DIGEST = `sha256:${"a".repeat(64)}`;

describe("parseImageReference", () => {
  test.each([
    { text: "busybox", parts: { repository: "busybox" }, why: "name only" },
    { text: "org/echo:1.0", parts: { repository: "org/echo", tag: "1.0" }, why: "a path without a host" },
    {
      text: "ghcr.io/org/oaas/echo-fn:latest",
      parts: { registry: "ghcr.io", repository: "org/oaas/echo-fn", tag: "latest" },
      why: "a host with a dot",
    },
    {
      text: "localhost:5000/echo",
      parts: { registry: "localhost:5000", repository: "echo" },
      why: "the colon is a port, not a tag",
    },
    { text: `echo@${DIGEST}`, parts: { repository: "echo", digest: DIGEST }, why: "pinned by digest" },
    {
      text: `r.io/echo:1@${DIGEST}`,
      parts: { registry: "r.io", repository: "echo", tag: "1", digest: DIGEST },
      why: "tag and digest",
    },
    { text: "[::1]:5000/echo", parts: { registry: "[::1]:5000", repository: "echo" }, why: "an IPv6 host" },
    { text: "a__b/c-d.e", parts: { repository: "a__b/c-d.e" }, why: "all separators" },
  ])("$text ($why)", ({ text, parts }) => {
    expect(parseImageReference(text)).toEqual(parts);
  });

  test.each([
    { text: "", why: "empty" },
    { text: "Echo", why: "names are lower case" },
    { text: "org/Echo:1", why: "names are lower case in every part" },
    { text: "echo:", why: "an empty tag" },
    { text: "echo:a b", why: "no spaces" },
    { text: "echo@sha256:abc", why: "a short digest" },
    { text: "echo@sha256:x@y", why: "two digests" },
    { text: "https://r.io/echo", why: "no scheme" },
    { text: "/echo", why: "an empty part" },
    { text: "echo/", why: "an empty part at the end" },
    { text: "a___b", why: "three underscores" },
    { text: `echo:${"t".repeat(129)}`, why: "a tag has 128 characters" },
    { text: "a/".repeat(200) + "b", why: "a name has 255 characters" },
  ])("rejects $text ($why)", ({ text }) => {
    expect(parseImageReference(text)).toBeUndefined();
    expect(IMAGE_REFERENCE.findProblem(text)?.fix).toContain("registry/name:tag");
  });

  test("the parts of a valid reference form the reference", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...Array.from("ab0.:/@-_A[]")) }), (text) => {
        const parts = parseImageReference(text);
        if (parts === undefined) return;
        const path = parts.registry === undefined ? parts.repository : `${parts.registry}/${parts.repository}`;
        const tag = parts.tag === undefined ? "" : `:${parts.tag}`;
        expect(path + tag + (parts.digest === undefined ? "" : `@${parts.digest}`)).toBe(text);
      }),
    );
  });

  test("an invalid host is part of the name", () => {
    expect(parseImageReference("r.io_a/a")).toEqual({ repository: "r.io_a/a" });
    expect(parseImageReference("A_b/a")).toBeUndefined();
  });

  test("the pattern for documents matches the parser, except for lengths", () => {
    const pattern = new RegExp(IMAGE_REFERENCE.pattern!);
    const piece = fc.constantFrom(
      "a",
      "b0",
      "A",
      ".",
      "-",
      "_",
      "__",
      ":",
      "/",
      "@",
      "localhost",
      "r.io",
      ":5000",
      DIGEST,
      "[::1]",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        const text = pieces.join("");
        expect([text, pattern.test(text)]).toEqual([text, parseImageReference(text) !== undefined]);
      }),
      { numRuns: 3000 },
    );
  });
});
