import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { IMAGE_REFERENCE, parseImageReference } from "./image-reference.ts";

const DIGEST = `sha256:${"a".repeat(64)}`;

describe("parseImageReference", () => {
  test.each([
    { text: "busybox", parts: { repository: "busybox" }, case: "name only" },
    { text: "org/echo:1.0", parts: { repository: "org/echo", tag: "1.0" }, case: "a path without a host" },
    {
      text: "ghcr.io/org/oaas/echo-fn:latest",
      parts: { registry: "ghcr.io", repository: "org/oaas/echo-fn", tag: "latest" },
      case: "a host with a dot",
    },
    {
      text: "localhost:5000/echo",
      parts: { registry: "localhost:5000", repository: "echo" },
      case: "the colon is a port, not a tag",
    },
    { text: `echo@${DIGEST}`, parts: { repository: "echo", digest: DIGEST }, case: "pinned by digest" },
    {
      text: `r.io/echo:1@${DIGEST}`,
      parts: { registry: "r.io", repository: "echo", tag: "1", digest: DIGEST },
      case: "tag and digest",
    },
    { text: "[::1]:5000/echo", parts: { registry: "[::1]:5000", repository: "echo" }, case: "an IPv6 host" },
    { text: "a__b/c-d.e", parts: { repository: "a__b/c-d.e" }, case: "all separators" },
  ])("$text ($case)", ({ text, parts }) => {
    expect(parseImageReference(text)).toEqual(parts);
  });

  test.each([
    { text: "", case: "empty" },
    { text: "Echo", case: "names are lower case" },
    { text: "org/Echo:1", case: "names are lower case in every part" },
    { text: "echo:", case: "an empty tag" },
    { text: "echo:a b", case: "no spaces" },
    { text: "echo@sha256:abc", case: "a short digest" },
    { text: "echo@sha256:x@y", case: "two digests" },
    { text: "https://r.io/echo", case: "no scheme" },
    { text: "/echo", case: "an empty part" },
    { text: "echo/", case: "an empty part at the end" },
    { text: "a___b", case: "three underscores" },
    { text: `echo:${"t".repeat(129)}`, case: "a tag has 128 characters" },
    { text: "a/".repeat(200) + "b", case: "a name has 255 characters" },
  ])("rejects $text ($case)", ({ text }) => {
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
