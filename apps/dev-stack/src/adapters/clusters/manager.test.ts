import { expect, test } from "vitest";
import { managerConfig } from "./manager.ts";

const plan = {
  name: "edge",
  folder: "/data/edge",
  apiPort: 0,
  managerPort: 4711,
  nodes: 1,
  labels: { env: "edge", zone: "a" },
};

test("passes environment settings except those that bind the manager to its cluster", () => {
  const config = managerConfig(plan, {
    OPRC_CRM_PROFILE: "edge",
    OPRC_CRM_HTTP_HOST: "0.0.0.0",
    OPRC_CRM_FEATURES_LEADER_ELECTION: "true",
    OPRC_ENV_REGION: "eu",
    HTTP_PORT: "80",
    KUBECONFIG: "/elsewhere",
  });
  expect(config).toMatchObject({
    profile: "edge",
    clusterName: "edge",
    server: { host: "127.0.0.1", httpPort: 4711 },
    k8s: { namespaces: { all: true, listed: [] } },
    features: { leaderElection: false },
    place: { region: "eu", zone: "a", isEdge: true, isDatacenter: false },
  });
});

test("rejects an invalid manager setting before anything starts", () => {
  expect(() => managerConfig(plan, { OPRC_CRM_PROFIL: "dev" })).toThrow(/OPRC_CRM_PROFIL.*OPRC_CRM_PROFILE/s);
});
