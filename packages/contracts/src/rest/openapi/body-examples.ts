import type { OperationId } from "../routes/table.ts";

const PACKAGE = {
  name: "counter",
  version: "1.0.0",
  classes: [
    {
      key: "Counter",
      state_spec: { consistency_model: "READ_YOUR_WRITE" },
      function_bindings: [{ name: "add", function_key: "Counter.add", access_modifier: "PUBLIC" }],
    },
  ],
  functions: [{ key: "Counter.add", provision_config: { container_image: "example.test/counter-add:1.0.0" } }],
};

const DEPLOYMENT = {
  key: "counter",
  package_name: "counter",
  class_key: "Counter",
  nfr_requirements: { availability: 0.99 },
};

/** Request examples by operation, for the reference and for tools. */
export const BODY_EXAMPLES: Readonly<Partial<Record<OperationId, object>>> = {
  createPackage: PACKAGE,
  applyDocuments: { documents: [{ package: PACKAGE }, { deployment: DEPLOYMENT }] },
  createPlan: { deployment: DEPLOYMENT, what_if: { availability: 0.999 } },
  createDeployment: DEPLOYMENT,
  drainCluster: { reason: "kernel update" },
  cordonCluster: { reason: "kernel update" },
  addCluster: { name: "edge", url: "http://edge.example.test:8088", labels: { "oaas.io/env": "edge" } },
  rollBackPackage: { revision: 1, reason: "the new image does not start" },
  setFreezeWindow: {
    clusters: ["edge"],
    schedule: "0 18 * * 5",
    duration_secs: 223_200,
    time_zone: "Europe/Berlin",
    reason: "no changes at weekends",
  },
  pauseDeployment: { duration_secs: 3600, reason: "release of the customer" },
  replanDeployment: { plan_digest: "0123abcd", reason: "cluster edge is lost" },
  setStateObject: { entries: { total: { json: 3 }, note: { text: "paid in cash" } } },
  rollBackDeployment: { revision: 1, reason: "the new image does not start" },
};
