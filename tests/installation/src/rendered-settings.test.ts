import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { loadConfig } from "@oaas/config";
import { describe, expect, test } from "vitest";
import { crmConfig, listenHost as crmHost } from "../../../apps/class-runtime-manager/src/config.ts";
import { listenHost as pmHost, pmConfig } from "../../../apps/package-manager/src/config.ts";
import type { Manifest } from "./installed-pods.ts";
import { manifestsOf } from "./kustomize.ts";

const TESTDATA = path.resolve(import.meta.dirname, "..", "testdata");

/** The environment of the program in a rendered chart; values from other objects are their names. */
function environmentOf(manifests: readonly Manifest[], name: string): Record<string, string> | undefined {
  const workload = manifests.find(
    ({ kind, metadata }) => metadata.name === name && (kind === "Deployment" || kind === "StatefulSet"),
  );
  const env = workload?.spec?.template?.spec.containers[0]?.env;
  return env && Object.fromEntries(env.map((variable) => [variable.name, variable.value ?? variable.name]));
}

/** Mounted Secrets. */
const readFile = (file: string): string =>
  file.includes("encryption") ? Buffer.alloc(32).toString("base64") : "secret";

/** Those with a program of ours. */
const FILES = readdirSync(TESTDATA).filter((file) => !file.startsWith("oaas-data-plane"));

describe.each(FILES)("the programs accept the settings of %s", (file) => {
  const manifests = manifestsOf(readFileSync(path.join(TESTDATA, file), "utf8"));
  const crm = environmentOf(manifests, "oprc-crm");
  const pm = environmentOf(manifests, "oprc-pm");

  test("and it installs at least one of them", () => {
    expect(crm ?? pm).toBeDefined();
  });

  if (crm !== undefined)
    test("class runtime manager, with authentication", () => {
      const config = loadConfig(crmConfig, { env: crm, readFile });
      expect(config.security).toMatchObject({ authMode: "required", mtls: true });
      expect(crmHost(config)).toBe("0.0.0.0");
    });

  if (pm !== undefined)
    test("package manager, with authentication", () => {
      const config = loadConfig(pmConfig, { env: pm, readFile });
      expect(config.auth.mode).toBe("required");
      expect(pmHost(config)).toBe("0.0.0.0");
      expect(config.storage.type).not.toBe("memory");
    });
});
