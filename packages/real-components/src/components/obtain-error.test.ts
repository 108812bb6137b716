import { describe, expect, it } from "vitest";
import { explainFailure, explainSystemError } from "./obtain-error.ts";

describe("explainFailure", () => {
  it.each([
    {
      case: "Go cannot reach its proxy",
      output: 'go: k8s.io/api@v0.36.3: Get "https://proxy/": dial tcp: lookup proxy: no such host',
      reason: /is unreachable/,
      remedy: /GOPROXY/,
    },
    {
      case: "apt cannot resolve",
      output: "Err:1 http://mirror bookworm InRelease\n  Could not resolve 'mirror'",
      reason: /is unreachable/,
      remedy: /apt sources/,
    },
    {
      case: "the linker runs out of disk",
      output: "link: writing output: write /tmp/x: no space left on device",
      reason: /disk is full/,
      remedy: /OAAS_CACHE_DIR/,
    },
    {
      case: "an old Go",
      output: "go: go.mod requires go >= 1.26.0 (running go 1.19; GOTOOLCHAIN=local)",
      reason: /too old/,
      remedy: /Go 1\.26/,
    },
    {
      case: "a missing package",
      output: "E: Unable to locate package foo",
      reason: /package lists/,
      remedy: /Debian 12/,
    },
    {
      case: "a tampered module",
      output: "verifying m@v1: checksum mismatch\nSECURITY ERROR",
      reason: /checksum/,
      remedy: /do not use it/,
    },
    { case: "any other failure", output: "panic: oh", reason: /panic: oh/, remedy: /read the log/ },
  ])("$case", ({ output, reason, remedy }) => {
    const failure = explainFailure("building", output, "/log");
    expect(failure.message).toMatch(/^building failed/);
    expect(failure.message).toContain("/log");
    expect(failure.message).toMatch(reason);
    expect(failure.remedy).toMatch(remedy);
  });

  it("shows only the end of a long log", () => {
    const output = Array.from({ length: 500 }, (_, index) => `line ${index}`).join("\n");
    const { message } = explainFailure("building", output, "/log");
    expect(message).toContain("line 499");
    expect(message).not.toContain("line 480");
  });
});

describe("explainSystemError", () => {
  it.each([
    { code: "ENOSPC", reason: /disk is full/, remedy: /free about/ },
    { code: "EROFS", reason: /cannot write/, remedy: /OAAS_CACHE_DIR/ },
  ])("$code", ({ code, reason, remedy }) => {
    const error = explainSystemError(Object.assign(new Error("x"), { code }));
    expect(error?.message).toMatch(reason);
    expect(error?.remedy).toMatch(remedy);
  });

  it("does not explain a programming error", () => {
    expect(explainSystemError(new TypeError("x is not a function"))).toBeUndefined();
  });
});
