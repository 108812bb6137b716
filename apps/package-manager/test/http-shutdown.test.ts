import { Agent, request } from "node:http";
import { eventually, holdTimer } from "@oaas/testkit";
import { expect, test } from "vitest";
import { startPm } from "./running-pm.ts";

test("serves requests during the shutdown delay, each as the last one of its connection, and is not ready", async () => {
  const delay = holdTimer(47_000);
  const pm = await startPm({ ambient: delay.ambient, env: { SERVER_SHUTDOWN_DELAY: "47s" } });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const get = (path: string) =>
    new Promise<{ status: number | undefined; connection: string | undefined; reused: boolean; body: string }>(
      (resolve, reject) => {
        const sent = request(`${pm.url}${path}`, { agent }, (response) => {
          let body = "";
          response.on("data", (part: Buffer) => (body += part.toString()));
          response.on("end", () =>
            resolve({
              status: response.statusCode,
              connection: response.headers.connection,
              reused: sent.reusedSocket,
              body,
            }),
          );
        });
        sent.on("error", reject).end();
      },
    );
  expect(await get("/readyz")).toMatchObject({ status: 200, connection: "keep-alive" });
  const closed = pm.close();
  await eventually(() => delay.isHeld());

  // On the connection from before.
  expect(await get("/api/v1/packages")).toMatchObject({ status: 200, connection: "close", reused: true });
  const notReady = await get("/readyz");
  expect(notReady).toMatchObject({ status: 503, connection: "close", reused: false });
  expect(JSON.parse(notReady.body)).toMatchObject({
    ready: false,
    checks: { shutdown: { ok: false, message: "the process is stopping" } },
  });

  delay.fire();
  await closed;
  await expect(get("/readyz")).rejects.toMatchObject({ code: "ECONNREFUSED" });
  agent.destroy();
});
