import { Fault } from "@oaas/foundation";
import type { KubeObject, Stored } from "@oaas/kube-core";
import type { KubeClient } from "@oaas/kube-runtime";
import type { Manifest } from "../../templates/index.ts";
import { expect, test } from "vitest";
import { scaleRevisions } from "./revision-scale.ts";

const ENFORCED = "oaas.io/enforced-min-scale";
const MIN_SCALE = "autoscaling.knative.dev/min-scale";

function service(enforced?: string, status: object = {}): Stored<KubeObject> {
  const object = {
    apiVersion: "serving.knative.dev/v1",
    kind: "Service",
    metadata: {
      namespace: "shop",
      name: "order",
      uid: "s",
      resourceVersion: "1",
      annotations: enforced === undefined ? {} : { [ENFORCED]: enforced },
    },
    status,
  };
  return object;
}

const SERVING = { latestCreatedRevisionName: "order-2", latestReadyRevisionName: "order-1" };

/** Scales the revisions of a Service; `annotated` are the minimums of existing revisions. */
async function scale(
  wanted: string | undefined,
  live: Stored<KubeObject> | undefined,
  annotated: Readonly<Record<string, string | undefined>>,
  answer: () => void = () => undefined,
) {
  const requests: string[] = [];
  const applied: unknown[] = [];
  const resource = () => ({
    list: async ({ fieldSelector = "" }) => {
      const name = fieldSelector.replace("metadata.name=", "");
      requests.push(`list ${name}`);
      if (!(name in annotated)) return { items: [] };
      const annotations = annotated[name] === undefined ? {} : { [MIN_SCALE]: annotated[name] };
      return {
        items: [{ ...service(), kind: "Revision", metadata: { ...service().metadata, name, uid: name, annotations } }],
      };
    },
    apply: async (manifest: KubeObject, options: { readonly force?: boolean }) => {
      requests.push(`apply ${manifest.metadata.name}${options.force === true ? " by force" : ""}`);
      answer();
      applied.push(manifest.metadata);
    },
  });
  const client = { resource } as unknown as KubeClient;
  const manifest: Manifest = { ...service(wanted) };
  const deps = { client, children: { get: () => live } };
  const outcome = await scaleRevisions([manifest], deps, new AbortController().signal);
  return { ...outcome, isApplicable: outcome.applicable.includes(manifest), requests, applied };
}

test("costs no request for a Service without an enforced minimum, and for a new one", async () => {
  expect((await scale(undefined, service(undefined, SERVING), {})).requests).toEqual([]);
  expect((await scale("3", undefined, {})).requests).toEqual([]);
});

test("annotates the revision that serves and the one that will, each once and never a new object", async () => {
  const { requests, applied, isApplicable } = await scale("3", service("2", SERVING), {
    "order-1": "2",
    "order-2": "3",
  });
  expect(requests).toEqual(["list order-2", "list order-1", "apply order-1"]);
  expect(applied).toEqual([{ namespace: "shop", name: "order-1", uid: "order-1", annotations: { [MIN_SCALE]: "3" } }]);
  expect(isApplicable).toBe(true);
});

test("removes the minimum that ended before the Service forgets it", async () => {
  const live = service("3", { ...SERVING, latestCreatedRevisionName: "order-1" });
  const done = await scale(undefined, live, { "order-1": "3" });
  expect(done.applied).toEqual([{ namespace: "shop", name: "order-1", uid: "order-1" }]);
  const failed = await scale(undefined, live, { "order-1": "3" }, () => {
    throw new Fault({ kind: "unavailable", dependency: "kubernetes" }, "down");
  });
  expect(failed.isApplicable).toBe(false);
  expect(failed.retry?.message).toBe("down");
});

test("ignores a revision that is deleted", async () => {
  const { requests, problems } = await scale("3", service("3", SERVING), {});
  expect(requests).toEqual(["list order-2", "list order-1"]);
  expect(problems).toEqual([]);
});

test("reports a missing permission and still applies the Service", async () => {
  const denied = new Fault({ kind: "permission-denied", action: "patch" }, "cannot patch revisions");
  const { problems, isApplicable, retry } = await scale("3", service("2", SERVING), { "order-1": "2" }, () => {
    throw denied;
  });
  expect(problems).toMatchObject([
    { reason: "Forbidden", message: "cannot patch revisions", object: { kind: "Revision", name: "order-1" } },
  ]);
  expect([isApplicable, retry]).toEqual([true, undefined]);
});
