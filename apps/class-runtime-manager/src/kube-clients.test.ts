import type { KubeObject } from "@oaas/kube-core";
import { resourceType, type HttpRequest, type HttpResponse, type Transport } from "@oaas/kube-runtime";
import { virtualAmbient } from "@oaas/foundation/virtual";
import { NOOP_LOGGER, NOOP_METER } from "@oaas/observability";
import { expect, test } from "vitest";
import { createKubeClients } from "./kube-clients.ts";

const CONFIG_MAPS = resourceType<KubeObject>({
  group: "",
  version: "v1",
  kind: "ConfigMap",
  resource: "configmaps",
  namespaced: true,
});

/** A server that never responds. */
function heldServer(): { readonly transport: Transport; readonly sent: string[] } {
  const sent: string[] = [];
  const send = ({ path }: HttpRequest): Promise<HttpResponse> => {
    const name = path.replace(/\?.*/, "").split("/").at(-1) ?? "";
    sent.push(name);
    return new Promise(() => undefined);
  };
  return { transport: { send, close: async () => undefined }, sent };
}

function setUp() {
  const { time, ...ambient } = virtualAmbient(1);
  const [controllers, callers] = [heldServer(), heldServer()];
  const clients = createKubeClients({
    ambient,
    logger: NOOP_LOGGER,
    meter: NOOP_METER,
    transport: controllers.transport,
    intentTransport: callers.transport,
  });
  const acting = clients.fencedClient(() => true);
  const apply = (client: typeof acting, name: string): void =>
    void client
      .resource(CONFIG_MAPS)
      .patch({ namespace: "shop", name }, "merge", {})
      .catch(() => undefined);
  return { time, controllers, callers, clients, acting, apply };
}

const CHILDREN = Array.from({ length: 10 }, (_, index) => `child-${index}`);

test("the write of a caller does not share connections with the writes of the controllers", async () => {
  const { time, controllers, callers, clients, acting, apply } = setUp();
  for (const name of CHILDREN) apply(acting, name);
  apply(clients.intentClient, "class");
  apply(clients.client, "other");
  await time.advance(0);
  expect(callers.sent).toEqual(["class"]);
  expect(controllers.sent).toEqual([...CHILDREN, "other"]);
});

test("only the controllers are fenced", async () => {
  const { time, controllers, callers, clients, apply } = setUp();
  apply(
    clients.fencedClient(() => false),
    "child",
  );
  apply(clients.intentClient, "class");
  await time.advance(0);
  expect([controllers.sent, callers.sent]).toEqual([[], ["class"]]);
});
