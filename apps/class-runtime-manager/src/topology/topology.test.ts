import { classRuntime, type ClassRuntimeInput } from "@oaas/contracts/crd";
import { expect, test } from "vitest";
import { buildTopology } from "./topology.ts";

function object(name: string, spec: object, status?: ClassRuntimeInput["status"]) {
  return classRuntime.parse({
    apiVersion: "oaas.io/v1alpha1",
    kind: "ClassRuntime",
    metadata: { name, namespace: "shop", generation: 1 },
    spec: { state_spec: {}, origin: { deployment_id: name }, ...spec },
    ...(status === undefined ? {} : { status }),
  });
}

const fn = (key: string, ready: boolean, reason?: string) => ({
  ...(reason === undefined ? {} : { reason }),
  function_key: key,
  service: "s",
  predicted_url: `http://${key}`,
  template: "edge",
  ready,
});

test("contains each node once with its status, and the edges between them", () => {
  const routers = [{ service: "router", port: 17_447 }];
  const { nodes, edges } = buildTopology("east", [
    object(
      "order",
      { package_class_key: "shop.Order" },
      {
        phase: "degraded",
        observedGeneration: 1,
        template: { name: "edge", basis: "score" },
        conditions: [{ type: "Available", status: "True" }],
        functions: [
          { ...fn("place", true), desired_replicas: 2, ready_replicas: 2 },
          fn("cancel", false, "ImagePull"),
          { ...fn("total", false, "ImagePull"), serving: true },
          { ...fn("scale", false, "Scaling"), serving: true },
        ],
        odgm_cluster_status: { ready: true, service: "order-odgm-svc:80" },
        routers,
      },
    ),
    object("cart", { package_class_key: "shop.Cart" }, { odgm_cluster_status: { ready: false }, routers }),
    object("hand-made", {}),
  ]);
  expect(nodes.map(({ id, status, deployedClasses }) => `${id} ${status} ${deployedClasses.join("+")}`)).toEqual([
    "environment::east healthy ",
    "class::shop/order degraded order",
    "package::shop healthy order+cart",
    "odgm::shop/order healthy order",
    "router::shop/router:17447 healthy order+cart",
    "function::shop/order::place healthy order",
    "function::shop/order::cancel unhealthy order",
    "function::shop/order::total degraded order",
    "function::shop/order::scale pending order",
    "class::shop/cart pending cart",
    "odgm::shop/cart pending cart",
    "class::shop/hand-made pending hand-made",
  ]);
  const known = new Set(nodes.map(({ id }) => id));
  expect(edges.filter(({ fromId, toId }) => !known.has(fromId) || !known.has(toId))).toEqual([]);
  expect(edges).toContainEqual({
    fromId: "function::shop/order::place",
    toId: "odgm::shop/order",
    metadata: { relation: "uses" },
  });
  expect(nodes.find(({ id }) => id === "function::shop/order::place")?.metadata).toMatchObject({
    health: "Running",
    replicas: "2/2",
  });
  expect(nodes.find(({ id }) => id === "class::shop/order")?.metadata).toMatchObject({
    health: "Degraded",
    template: "edge",
    package: "shop",
  });
});
