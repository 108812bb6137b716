import type { Subject } from "../src/case.ts";
import { configMap, create, get, pod, waitFor } from "../src/case-steps.ts";

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
  ],
};
