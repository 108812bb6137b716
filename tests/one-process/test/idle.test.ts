import { expect, test } from "vitest";
import { ClassCluster } from "../src/class-cluster.ts";

const CLASSES = 50;
const HOUR_MS = 3_600_000;
const WATCH = /[?&]watch=(1|true)/;

test(`a virtual hour of ${CLASSES} idle classes: nobody writes anything, and the manager lists nothing`, async () => {
  const requests: string[] = [];
  await using cluster = await ClassCluster.start(1, { tell: (line) => requests.push(requestOf(line)) });
  const names = Array.from({ length: CLASSES }, (_, index) => `order-${index}`);
  for (const name of names) await cluster.ask(name, { functions: { a: "1" }, template: "dev" });
  await cluster.pass(120_000);
  expect(await cluster.phases()).toEqual(Object.fromEntries(names.map((name) => [name, "available"])));

  const revision = cluster.server.store.revision;
  const before = requests.length;
  await cluster.pass(HOUR_MS);

  expect(cluster.server.store.revision, "no write by anybody").toBe(revision);
  const during = requests.slice(before);
  const isDiscovery = (request: string): boolean => /^GET \/(api(\/[^/?]+)?|apis(\/[^/?]+){0,2})(\?|$)/.test(request);
  const asked = during.filter((request) => !WATCH.test(request));
  expect(asked.filter((request) => !isDiscovery(request))).toEqual([]);
  // Definitions of kinds are watched; what is served is looked at every ten minutes for what comes about without one.
  expect(asked.length).toBeLessThanOrEqual(12);
  // Watches are begun again when the server ends them; had they ended in vain, there would be lists above.
  expect(during.some((request) => WATCH.test(request))).toBe(true);
});

/** `GET /api/v1/pods?watch=true` of `1767225600000 GET /api/v1/pods?watch=true 200 …`. */
function requestOf(line: string): string {
  return line.split(" ", 3).slice(1).join(" ");
}
