import { describe, expect, test } from "vitest";
import { ROOT } from "../tasks/root.ts";
import { advisoriesFromAudit, checkAdvisories, packagesDigest, type Advisory } from "./advisories.ts";
import { checkPackages, isAllowed } from "./check-packages.ts";
import { Lockfile, type LockfileJson } from "./lockfile.ts";
import { createSbom } from "./sbom.ts";
import { compareVersions, isInRange } from "./version-range.ts";

const SHA512 = `sha512-${Buffer.alloc(64, 1).toString("base64")}`;
const entry = (version: string, more: object = {}) => ({ version, license: "MIT", integrity: SHA512, ...more });

/** An app with a workspace package, a scoped package, and two versions of one package. */
const PACKAGES: LockfileJson["packages"] = {
  "": { name: "root", version: "1.0.0" },
  "apps/shop": { name: "@acme/shop", version: "1.2.0", license: "MIT", dependencies: { "@acme/core": "1", left: "1" } },
  "packages/core": { name: "@acme/core", version: "1.2.0", license: "MIT", dependencies: { "@x/log": "2" } },
  "node_modules/@acme/core": { resolved: "packages/core", link: true },
  "node_modules/@acme/shop": { resolved: "apps/shop", link: true },
  "node_modules/left": entry("1.0.0", { license: "(MIT OR Apache-2.0)" }),
  "node_modules/@x/log": entry("2.0.0", { dependencies: { left: "0.9" }, optionalDependencies: { absent: "1" } }),
  "node_modules/@x/log/node_modules/left": entry("0.9.0"),
  "node_modules/tool": entry("3.0.0", { license: "GPL-3.0-only" }),
};
const lockfileOf = (more: LockfileJson["packages"] = {}): Lockfile =>
  new Lockfile({ lockfileVersion: 3, packages: { ...PACKAGES, ...more } });

describe("the bill of materials", () => {
  const sbom = createSbom(lockfileOf(), "apps/shop", Buffer.from("code"));

  test("lists what the app needs at run time, with versions, licenses and hashes", () => {
    expect(sbom.components.map(({ purl }) => purl)).toEqual([
      "pkg:npm/%40acme/core@1.2.0",
      "pkg:npm/%40x/log@2.0.0",
      "pkg:npm/left@0.9.0",
      "pkg:npm/left@1.0.0",
    ]);
    expect(sbom.components[1]).toEqual({
      type: "library",
      "bom-ref": "pkg:npm/%40x/log@2.0.0",
      group: "@x",
      name: "log",
      version: "2.0.0",
      purl: "pkg:npm/%40x/log@2.0.0",
      licenses: [{ license: { id: "MIT" } }],
      hashes: [{ alg: "SHA-512", content: "01".repeat(64) }],
    });
    expect(sbom.components[3]?.licenses).toEqual([{ expression: "MIT OR Apache-2.0" }]);
    expect(sbom.dependencies).toContainEqual({
      ref: "pkg:npm/%40x/log@2.0.0",
      dependsOn: ["pkg:npm/left@0.9.0"],
    });
    expect(sbom.metadata.component).toMatchObject({
      type: "application",
      name: "shop",
      hashes: [{ alg: "SHA-256", content: expect.stringMatching(/^[0-9a-f]{64}$/) as string }],
    });
  });

  test("is the same for the same input, and has another serial number for another bundle", () => {
    expect(createSbom(lockfileOf(), "apps/shop", Buffer.from("code"))).toEqual(sbom);
    const other = createSbom(lockfileOf(), "apps/shop", Buffer.from("other"));
    expect(other.serialNumber).not.toBe(sbom.serialNumber);
  });

  test.each(["apps/package-manager", "apps/class-runtime-manager", "apps/cli"])(
    "of %s follows CycloneDX 1.6",
    (app) => {
      const { metadata, components, dependencies, ...document } = createSbom(Lockfile.read(ROOT), app, Buffer.from(""));
      expect(document).toEqual({
        $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
        bomFormat: "CycloneDX",
        specVersion: "1.6",
        serialNumber: expect.stringMatching(
          /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/,
        ) as string,
        version: 1,
      });
      const refs = [metadata.component, ...components].map((component) => component["bom-ref"]);
      expect(new Set(refs).size, "references are unique").toBe(refs.length);
      expect(dependencies.map(({ ref }) => ref).toSorted()).toEqual(refs.toSorted());
      for (const { dependsOn } of dependencies) {
        expect(new Set(dependsOn).size).toBe(dependsOn.length);
        for (const ref of dependsOn) expect(refs).toContain(ref);
      }
      expect(components.length).toBeGreaterThan(5);
      for (const component of components) {
        expect(component.purl).toMatch(/^pkg:npm\/(%40[a-z0-9-]+\/)?[a-z0-9._-]+@\d+\.\d+\.\d+/);
        expect(component.licenses, component.purl).toHaveLength(1);
        if (component.group !== "@oaas") expect(component.hashes?.[0]?.content).toMatch(/^[0-9a-f]{128}$/);
      }
    },
  );

  test("of the command line lists only its few packages", () => {
    const names = createSbom(Lockfile.read(ROOT), "apps/cli", Buffer.from("")).components.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(["core", "yaml", "contracts", "zod"]));
    expect(names).not.toContain("fastify");
    expect(names).not.toContain("vitest");
  });
});

describe("packages and licenses", () => {
  test("accepts the lockfile of this repository", () => {
    const apps = ["cli", "class-runtime-manager", "dev-stack", "package-manager"].map((app) => `apps/${app}`);
    expect(checkPackages(Lockfile.read(ROOT), apps)).toEqual([]);
  });

  test("reports a shipped license that is not on the list, but not that of a tool", () => {
    const gpl = lockfileOf({ "node_modules/left": entry("1.0.0", { license: "GPL-3.0-only" }) });
    expect(checkPackages(gpl, ["apps/shop"])).toEqual([
      "left@1.0.0 has the license GPL-3.0-only, which is not on the list: use another package",
    ]);
    const none = lockfileOf({ "node_modules/left": { version: "1.0.0", integrity: SHA512 } });
    expect(checkPackages(none, ["apps/shop"])[0]).toContain("has no license");
    expect(checkPackages(lockfileOf(), ["apps/shop"])).toEqual([]);
  });

  test("reports packages without integrity and new install scripts", () => {
    const lockfile = lockfileOf({
      "node_modules/tool": { version: "3.0.0", integrity: "sha1-abc", hasInstallScript: true },
    });
    expect(checkPackages(lockfile, ["apps/shop"])).toEqual([
      expect.stringContaining("tool@3.0.0 has an install script"),
      expect.stringContaining("tool@3.0.0 has no SHA-512 integrity"),
    ]);
  });

  test.each([
    ["MIT", true],
    ["(Apache-2.0 AND BSD-3-Clause)", true],
    ["(MIT OR GPL-3.0-only)", true],
    ["MIT AND GPL-3.0-only", false],
    ["GPL-3.0-only OR AGPL-3.0-only", false],
    ["SEE LICENSE IN LICENSE.txt", false],
    ["UNLICENSED", false],
    ["", false],
  ])("%s: %s", (expression, allowed) => {
    expect(isAllowed(expression)).toBe(allowed);
  });
});

describe("advisories", () => {
  const advisory: Advisory = {
    id: "1",
    package: "left",
    range: "<1.0.0",
    severity: "high",
    title: "Left fails",
    url: "https://example.test/1",
  };
  const check = (more: object, today = "2026-01-31") =>
    checkAdvisories(lockfileOf(), { advisories: [], accepted: [], ...more }, today);

  test("reports every affected version, also in nested folders", () => {
    expect(check({ advisories: [advisory] }).problems).toEqual([
      "left@0.9.0: Left fails (high, https://example.test/1): update it",
    ]);
    expect(check({ advisories: [{ ...advisory, range: "<0.5.0" }] }).problems).toEqual([]);
  });

  test("an accepted advisory is ignored until its last day", () => {
    const accepted = [{ id: "1", until: "2026-01-31", reason: "not reachable" }];
    expect(check({ advisories: [advisory], accepted }).problems).toEqual([]);
    expect(check({ advisories: [advisory], accepted }, "2026-02-01").problems).toHaveLength(1);
  });

  test("says what it does not cover", () => {
    expect(check({}).notice).toContain("never fetched");
    expect(check({ fetched: "2026-01-01", packages: "other" }).notice).toContain("packages changed since");
    expect(check({ fetched: "2026-01-01", packages: packagesDigest(lockfileOf()) }).notice).toBeUndefined();
  });

  test("reads the report of npm audit, and throws its error", () => {
    const cause = { source: 7, name: "left", range: "<1.0.0", severity: "high", title: "Left fails", url: "u" };
    const report = {
      auditReportVersion: 2,
      vulnerabilities: { left: { via: [cause] }, "@x/log": { via: ["left"] }, twice: { via: [cause] } },
    };
    expect(advisoriesFromAudit(JSON.stringify(report))).toEqual([
      { id: "7", package: "left", range: "<1.0.0", severity: "high", title: "Left fails", url: "u" },
    ]);
    expect(() => advisoriesFromAudit('{"message":"405 Method Not Allowed"}')).toThrow("405 Method Not Allowed");
    expect(() => advisoriesFromAudit("{}")).toThrow("no report");
  });
});

describe("version ranges", () => {
  test.each([
    ["1.2.3", "<1.2.4", true],
    ["1.2.4", "<1.2.4", false],
    ["1.2.4", "<=1.2.4", true],
    ["2.0.1", ">=2.0.0 <2.0.5", true],
    ["2.0.5", ">= 2.0.0 < 2.0.5", false],
    ["3.1.0", "<1.0.0 || >=3.0.0 <3.2.0", true],
    ["1.0.0-beta.2", "<1.0.0", true],
    ["1.0.0-beta.2", ">=1.0.0-beta.10", false],
    ["1.0.0", "1.0.0", true],
    ["1.0.0+build", "=1.0.0", true],
    ["9.9.9", "*", true],
    ["9.9.9", "", true],
    ["9.9.9", "~1.x", true],
  ])("%s in %s: %s", (version, range, expected) => {
    expect(isInRange(version, range)).toBe(expected);
  });

  test("are compared by precedence", () => {
    const ordered = ["1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta", "1.0.0-beta.2", "1.0.0-beta.11"];
    const all = [...ordered, "1.0.0-rc.1", "1.0.0", "1.0.1", "1.10.0", "2.0.0"];
    expect(all.toReversed().toSorted(compareVersions)).toEqual(all);
  });
});
