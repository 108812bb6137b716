import { unavailable } from "@oaas/foundation";
import { virtualAmbient } from "@oaas/foundation/virtual";
import { expect, test } from "vitest";
import { serviceHandlers } from "./service.ts";

const cases = [
  { why: "reports a responding store as ok", storage: async () => 7, status: 200, message: undefined },
  {
    why: "reports the reason of a failing store",
    storage: async () => Promise.reject(unavailable("etcd", "no route")),
    status: 503,
    message: expect.stringContaining("no route") as unknown,
  },
  {
    why: "stops waiting for a silent store before its own timeout",
    storage: () => new Promise(() => {}),
    status: 503,
    message: "no response within 3 s",
  },
];

const STATE = {
  version: "1.0.0",
  ambient: virtualAmbient(1),
  storage: async () => 1,
  warnings: () => [],
  checks: () => ({}),
  metrics: async () => "",
};

test("redirects / to the reference page", async () => {
  const { getRoot } = serviceHandlers(STATE);
  expect(await getRoot({} as never)).toEqual({ status: 302, headers: { location: "/docs" } });
});

test("builds the API description and its page once", async () => {
  const { getOpenApi, getReferencePage } = serviceHandlers(STATE);
  const [page, again] = [await getReferencePage({} as never), await getReferencePage({} as never)];
  expect(page.content?.text).toContain("<html");
  expect(again.content, "the same object, not an equal one").toBe(page.content);
  expect(JSON.parse(String((await getOpenApi({} as never)).json))).toMatchObject({ info: { version: "1.0.0" } });
});

test.each(cases)("health and readiness: $why", async ({ storage, status, message }) => {
  const { time, ...ambient } = virtualAmbient(1);
  const { getHealth, getReadiness } = serviceHandlers({
    version: "1.0.0",
    ambient,
    storage,
    warnings: () => [],
    checks: () => ({}),
    metrics: async () => "",
  });
  const replies = Promise.all([getHealth({} as never), getReadiness({} as never)]);
  await time.advance(3_000);
  const [health, readiness] = await replies;
  const isWell = message === undefined;
  expect([health.status, readiness.status]).toEqual([status, status]);
  expect(JSON.parse(String(health.json))).toMatchObject({
    storage: isWell ? { status: "ok" } : { status: "error", message },
  });
  expect(JSON.parse(String(readiness.json))).toEqual({
    ready: isWell,
    checks: { storage: isWell ? { ok: true } : { ok: false, message } },
  });
  expect(time.pendingTimers).toBe(0);
});
