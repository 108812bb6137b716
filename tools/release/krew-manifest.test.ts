import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { WANTED } from "../bootstrap/find-node.mjs";
import { Lockfile } from "../supply-chain/lockfile.ts";
import { ROOT } from "../tasks/root.ts";
import { collectPlugin } from "./kubectl-plugin.ts";
import { createKrewManifest } from "./krew-manifest.ts";

const SUM = "0".repeat(64);

describe("the manifest of krew", () => {
  test.each(["https://downloads.example/oaas/1.2.3", "https://downloads.example/oaas/1.2.3/"])(
    "names the archives below %s with their checksums",
    (address) => {
      const { metadata, spec } = createKrewManifest("1.2.3", address, [
        { os: "linux", arch: "arm64", file: "one.tar.gz", sha256: SUM },
        { os: "darwin", file: "two.tar.gz", sha256: SUM },
      ]);
      expect(metadata).toEqual({ name: "oaas" });
      expect(spec.version).toBe("v1.2.3");
      expect(spec.platforms).toEqual([
        {
          selector: { matchLabels: { os: "linux", arch: "arm64" } },
          uri: "https://downloads.example/oaas/1.2.3/one.tar.gz",
          sha256: SUM,
          bin: "kubectl-oaas",
        },
        {
          selector: { matchLabels: { os: "darwin" } },
          uri: "https://downloads.example/oaas/1.2.3/two.tar.gz",
          sha256: SUM,
          bin: "kubectl-oaas",
        },
      ]);
    },
  );

  test("has texts within the limits of the index of krew", () => {
    const { spec } = createKrewManifest("1.2.3", "https://downloads.example", []);
    expect(spec.shortDescription.length).toBeLessThanOrEqual(50);
    expect(spec.shortDescription).not.toMatch(/[.\n]/);
    for (const line of spec.description.split("\n")) expect(line.length, line).toBeLessThanOrEqual(85);
  });
});

describe("the archive of the kubectl plug-in", () => {
  const entries = collectPlugin({
    root: ROOT,
    lockfile: Lockfile.read(ROOT),
    bundle: path.join(ROOT, "apps", "cli", "bin", "start.mjs"),
  });

  test("has both programs as executable files, the bundle and all licenses, and no links", () => {
    const listing = entries.map(
      (entry) => `${entry.path} ${entry.type === "file" ? entry.mode.toString(8) : entry.type}`,
    );
    expect(listing.toSorted()).toEqual([
      "LICENSE 644",
      "cli.mjs 644",
      "kubectl-oaas 755",
      "kubectl_complete-oaas 755",
      "third-party-licenses.txt 644",
    ]);
  });

  test("checks for the Node that this project needs", () => {
    const launcher = readFileSync(path.join(ROOT, "apps", "cli", "kubectl-plugin", "kubectl-oaas"), "utf8");
    expect(launcher).toContain(`major > ${WANTED.major} || (major == ${WANTED.major} && minor >= ${WANTED.minor})`);
    expect(launcher).toContain(`needs Node ${WANTED.major}.${WANTED.minor} or later`);
  });
});
