import { expect, test } from "vitest";
import { ClassCluster } from "../src/class-cluster.ts";

const CLASSES = 50;
const HOUR_MS = 3_600_000;
const WATCH = /[?&]watch=(1|true)/;

test(`${CLASSES} idle classes cause no writes and no lists in a virtual hour`, async () => {
  const requests: string[] = [];
  await using cluster = await ClassCluster.start(1, { record: (line) => requests.push(requestOf(line)) });
  const names = Array.from({ length: CLASSES }, (_, index) => `order-${index}`);
  for (const name of names) await cluster.applyClass(name, { functions: { a: "1" }, template: "dev" });
  await cluster.advance(120_000);
  expect(await cluster.phases()).toEqual(Object.fromEntries(names.map((name) => [name, "available"])));

  const revision = cluster.server.store.revision;
  const before = requests.length;
  await cluster.advance(HOUR_MS);

  expect(cluster.server.store.revision, "no writes").toBe(revision);
  const during = requests.slice(before);
  const isDiscovery = (request: string): boolean => /^GET \/(api(\/[^/?]+)?|apis(\/[^/?]+){0,2})(\?|$)/.test(request);
  const requested = during.filter((request) => !WATCH.test(request));
  expect(requested.filter((request) => !isDiscovery(request))).toEqual([]);
  // CRDs are watched; API discovery runs every ten minutes for APIs without a CRD.
  expect(requested.length).toBeLessThanOrEqual(12);
  // The server ends watches, and they restart; a failed restart would cause lists above.
  expect(during.some((request) => WATCH.test(request))).toBe(true);
});

/** `GET /api/v1/pods?watch=true` of `1767225600000 GET /api/v1/pods?watch=true 200 …`. */
function requestOf(line: string): string {
  return line.split(" ", 3).slice(1).join(" ");
}
