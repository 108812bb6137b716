import { KINDS, rootSchema } from "@oaas/contracts/crd";
import { Fault, unavailable } from "@oaas/foundation";
import { virtualAmbient } from "@oaas/foundation/virtual";
import { NOOP_LOGGER } from "@oaas/observability";
import { describe, expect, test } from "vitest";
import { ClusterRequirements, type ClusterRequirementsOptions } from "./cluster-requirements.ts";

type Discovery = ClusterRequirementsOptions["discovery"];
type Schemas = Awaited<ReturnType<Discovery["schemas"]>>;

const CURRENT = { major: "1", minor: "36", gitVersion: "v1.36.3" };
const SCHEMAS = JSON.parse(
  JSON.stringify(KINDS.map((definition) => [definition.kind, rootSchema(definition)])),
) as Iterable<[string, never]>;

/** The schemas of an older release: without these fields of the spec of class runtimes. */
function olderSchemas(...fields: readonly string[]): Schemas {
  const schemas = new Map(structuredClone([...SCHEMAS]));
  const { properties } = schemas.get("ClassRuntime") as unknown as {
    properties: { spec: { properties: Record<string, unknown> } };
  };
  for (const field of fields) delete properties.spec.properties[field];
  return schemas;
}

async function startCheck(answers: Partial<Discovery>) {
  const ambient = virtualAmbient(1);
  const discovery: Discovery = { version: async () => CURRENT, schemas: async () => new Map(SCHEMAS), ...answers };
  const requirements = new ClusterRequirements({ discovery, timers: ambient.timers, logger: NOOP_LOGGER });
  const before = requirements.problems;
  let isMet = false;
  const stop = new AbortController();
  const running = requirements.met(stop.signal).then(() => (isMet = true));
  running.catch(() => undefined);
  await ambient.time.advance(0);
  return {
    discovery,
    before,
    problems: () => requirements.problems,
    isMet: () => isMet,
    later: () => ambient.time.advance(60_000),
    running,
    stop,
  };
}

describe("a cluster meets the requirements", () => {
  test("with this release's CRDs; before the check it does not", async () => {
    const check = await startCheck({});
    expect(check.before).toEqual(["the version of the cluster and its CRDs are not checked yet"]);
    expect(check.isMet()).toBe(true);
    expect(check.problems()).toEqual([]);
  });

  test.each([
    ["1", "30"],
    ["1", "30+"],
    ["2", "0"],
    ["", ""],
  ])("with the version %s.%s", async (major, minor) => {
    const version = async () => ({ major, minor, gitVersion: "" });
    expect((await startCheck({ version })).isMet()).toBe(true);
  });

  test.each(["permission-denied", "not-found"] as const)("if what it has to read is %s", async (kind) => {
    const detail = kind === "not-found" ? { kind, resource: "page", name: "" } : { kind, action: "get" };
    const refused = (): Promise<never> => Promise.reject(new Fault(detail, "no"));
    expect((await startCheck({ version: refused, schemas: refused })).isMet()).toBe(true);
  });
});

describe("a cluster that does not meet the requirements is named and checked again", () => {
  test.each<[string, Partial<Discovery>, string]>([
    [
      "an old version",
      { version: async () => ({ major: "1", minor: "29", gitVersion: "v1.29.8" }) },
      "the cluster runs Kubernetes v1.29.8: upgrade it to 1.30 or later",
    ],
    [
      "CRDs that lack a field",
      { schemas: async () => olderSchemas("functions") },
      "the CRD of classruntimes is older than the manager: v1alpha1 does not have .spec.functions; install the CRDs of this release",
    ],
    [
      "CRDs that lack many fields",
      { schemas: async () => olderSchemas("functions", "telemetry", "addons", "enforcement") },
      ".spec.functions, .spec.addons, .spec.enforcement and 1 more; install",
    ],
    [
      "no answer",
      { version: () => Promise.reject(unavailable("API server", "the server is down")) },
      "the version of the cluster and its CRDs cannot be checked: the server is down",
    ],
  ])("%s", async (_, answers, problem) => {
    const check = await startCheck(answers);
    expect(check.problems()).toEqual([expect.stringContaining(problem)]);
    await check.later();
    expect(check.isMet()).toBe(false);
    Object.assign(check.discovery, { version: async () => CURRENT, schemas: async () => new Map(SCHEMAS) });
    await check.later();
    expect(check.isMet()).toBe(true);
    expect(check.problems()).toEqual([]);
  });

  test("until the process stops", async () => {
    const check = await startCheck({ schemas: async () => olderSchemas("functions") });
    check.stop.abort(new Error("stopping"));
    await expect(check.running).rejects.toThrow("stopping");
  });
});
