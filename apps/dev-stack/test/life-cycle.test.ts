import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, expect, test } from "vitest";
import { runLifeCycle, type ClusterReader } from "./life-cycle.ts";

const folder = mkdtempSync(path.join(tmpdir(), "oaas-journey-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const KINDS = [
  "/apis/oaas.io/v1alpha1/classruntimes",
  "/apis/apps/v1/deployments",
  "/apis/apps/v1/replicasets",
  "/apis/apps/v1/statefulsets",
  "/apis/autoscaling/v2/horizontalpodautoscalers",
  "/apis/policy/v1/poddisruptionbudgets",
  "/api/v1/pods",
  "/api/v1/services",
  "/api/v1/configmaps",
  "/api/v1/secrets",
  "/api/v1/persistentvolumeclaims",
];

interface Deployment {
  readonly metadata: { readonly namespace?: string; readonly name: string };
  readonly spec: {
    readonly template: { readonly spec: { readonly containers: readonly { readonly image: string }[] } };
  };
}

async function list(url: string): Promise<readonly Deployment[]> {
  const answer = await fetch(url);
  expect(answer.status, url).toBe(200);
  return ((await answer.json()) as { items: readonly Deployment[] }).items;
}

/** Simulated clusters have no authentication. */
const overHttp: ClusterReader = {
  names: async ({ apiUrl }) => {
    const found = await Promise.all(
      KINDS.map(async (kind) =>
        (await list(apiUrl + kind)).map(
          ({ metadata }) => `${path.basename(kind)} ${metadata.namespace}/${metadata.name}`,
        ),
      ),
    );
    return found.flat();
  },
  images: async ({ apiUrl }) =>
    (await list(`${apiUrl}/apis/apps/v1/deployments`)).flatMap(({ spec }) =>
      spec.template.spec.containers.map(({ image }) => image),
    ),
};

test("package life cycle on three simulated clusters with a kill -9 in between leaves nothing behind", async () => {
  await runLifeCycle({ dataDir: path.join(folder, "data"), flags: [], reader: overHttp });
}, 400_000);
