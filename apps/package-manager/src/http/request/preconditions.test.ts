import { describe, expect, test } from "vitest";
import { conditionOf, encodedEtag, etagOf, matchingTag, versionMismatch } from "./preconditions.ts";

const headers = (ifMatch: string | undefined, ifNoneMatch: string | undefined) => ({
  list: (name: string) => ({ "if-match": ifMatch, "if-none-match": ifNoneMatch })[name],
});

describe("the condition of a write", () => {
  test.each([
    [undefined, undefined, undefined],
    ['"5"', undefined, { oneOf: [5] }],
    ['"4", "5","6"', undefined, { oneOf: [4, 5, 6] }],
    ["*", undefined, { oneOf: "any" }],
    ['W/"4", "5"', undefined, { oneOf: [5] }],
    ['"5-gzip", "of another, service"', undefined, { oneOf: [5] }],
    [undefined, " * ", { noneOf: "any" }],
    [undefined, 'W/"4", "5", "x"', { noneOf: [4, 5] }],
    ["*", '"5"', { oneOf: "any", noneOf: [5] }],
  ])("If-Match %s and If-None-Match %s", (ifMatch, ifNoneMatch, condition) => {
    expect(conditionOf(headers(ifMatch, ifNoneMatch))).toEqual(condition);
  });

  test.each([
    ["5", undefined],
    ['W/"5"', undefined],
    ['"5" "6', undefined],
    ['*, "5"', undefined],
    ["", undefined],
    ['"x"', undefined],
    [undefined, "5"],
    [undefined, ""],
  ])("rejects If-Match %s, If-None-Match %s", (ifMatch, ifNoneMatch) => {
    expect(() => conditionOf(headers(ifMatch, ifNoneMatch))).toThrow(
      expect.objectContaining({ code: "OAAS_VERSION_MISMATCH", message: expect.stringContaining("in quotes") }),
    );
  });
});

describe("the condition of a read", () => {
  test("If-None-Match matches by version, weak or in another encoding", () => {
    const etag = etagOf(5);
    expect(matchingTag('"4", W/"5"', etag)).toBe('"5"');
    expect(matchingTag(encodedEtag(etag, "gzip"), etag)).toBe('"5-gzip"');
    expect(matchingTag("*", etag)).toBe(etag);
    for (const other of ['"4"', '"55"', "5", "", '"5']) expect(matchingTag(other, etag)).toBeUndefined();
  });

  test("If-Match matches strong tags of the version", () => {
    for (const same of ['"5"', '"4", "5"', "*", '"5-br"']) expect(versionMismatch(same, etagOf(5))).toBeUndefined();
    for (const other of ['"4"', 'W/"5"', "5"])
      expect(versionMismatch(other, etagOf(5))).toMatchObject({ code: "OAAS_VERSION_MISMATCH" });
  });
});
