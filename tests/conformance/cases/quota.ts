import type { JsonObject } from "@oaas/kube-core";
import type { Step, Subject } from "../src/case.ts";
import { configMap, create, get, pod, strategicMergePatch, waitFor } from "../src/case-steps.ts";

export const quota: Subject = {
  subject: "quota",
  needs: "controllers",
  cases: [
    {
      name: "a quota counts objects and rejects objects that exceed it",
      given: [
        create("resourcequotas", {
          apiVersion: "v1",
          kind: "ResourceQuota",
          metadata: { name: "q" },
          spec: { hard: { "count/secrets": "2", pods: "1", "requests.cpu": "1" } },
        }),
        waitFor("resourcequotas/q", { status: { hard: { "count/secrets": "2" }, used: { "count/secrets": "0" } } }),
      ],
      steps: [
        create("secrets", { apiVersion: "v1", kind: "Secret", metadata: { name: "a" } }),
        create("secrets", { apiVersion: "v1", kind: "Secret", metadata: { name: "b" } }),
        create("secrets", { apiVersion: "v1", kind: "Secret", metadata: { name: "c" } }, { want: 403 }),
        waitFor("resourcequotas/q", { status: { used: { "count/secrets": "2" } } }, { show: ["status"] }),
        create("pods", pod("p"), { want: 403 }),
        create("pods", pod("p", { containers: [{ name: "a", image: "x", resources: { requests: { cpu: "2" } } }] }), {
          want: 403,
        }),
        create("configmaps", configMap("free"), { show: [] }),
        get("secrets", { show: ["items[*].metadata.name"] }),
      ],
    },
    {
      name: "a resize may not exceed a quota or a limit range",
      given: [
        create("pods", waitingPod({ requests: { cpu: "100m" }, limits: { cpu: "200m" } })),
        create("resourcequotas", {
          apiVersion: "v1",
          kind: "ResourceQuota",
          metadata: { name: "q" },
          spec: { hard: { "requests.cpu": "300m" } },
        }),
        waitFor("resourcequotas/q", { status: { used: { "requests.cpu": "100m" } } }),
        create("limitranges", {
          apiVersion: "v1",
          kind: "LimitRange",
          metadata: { name: "l" },
          spec: { limits: [{ type: "Container", max: { cpu: "1" } }] },
        }),
      ],
      steps: [
        resize({ limits: { cpu: "2" } }, { want: 403 }),
        resize({ requests: { cpu: "400m" }, limits: { cpu: "1" } }, { want: 403 }),
        resize({ requests: { cpu: "300m" }, limits: { cpu: "1" } }, { show: ["spec.containers[*].resources"] }),
        resize({ requests: { cpu: "200m" } }, { show: ["spec.containers[*].resources"] }),
      ],
    },
  ],
};

/** A pod that no node can run. */
function waitingPod(resources: JsonObject): JsonObject {
  const containers = [{ name: "main", image: "example.test/web:1", resources }];
  return pod("p", { containers, nodeSelector: { none: "none" } });
}

function resize(resources: JsonObject, rest: Parameters<typeof strategicMergePatch>[2]): Step {
  return strategicMergePatch("pods/p/resize", { spec: { containers: [{ name: "main", resources }] } }, rest);
}
