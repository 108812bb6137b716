import { create } from "@bufbuild/protobuf";
import {
  ClassRuntimeEventType,
  DeploymentService,
  WatchClassRuntimesRequestSchema,
  type WatchClassRuntimesResponse,
} from "@oaas/contracts/grpc";
import { isFault, ok } from "@oaas/foundation";
import { virtualAmbient } from "@oaas/foundation/virtual";
import { NOOP_LOGGER, NOOP_METER } from "@oaas/observability";
import type { Call } from "@oaas/rpc";
import { expect, test } from "vitest";
import { crmMetrics } from "../../telemetry.ts";
import { deploymentService, type DeploymentServiceDeps } from "../deployments/deployment-service.ts";
import { NO_FUNCTIONS } from "../functions/testing/no-functions.ts";
import { MemoryClasses } from "../../classes/testing/memory-classes.ts";

type Event = Pick<WatchClassRuntimesResponse, "type" | "resumeToken">;

/** Watch calls of a service over classes in memory, on virtual time. */
function setUp(over: Partial<DeploymentServiceDeps> = {}) {
  const ambient = virtualAmbient(1);
  const classes = new MemoryClasses();
  const service = deploymentService({
    ambient,
    namespaces: { served: "all", fallback: "shop" },
    profile: "dev",
    directory: classes,
    store: classes,
    leadership: { isLeading: true, leader: undefined },
    check: { canServe: () => ok(undefined) },
    ...NO_FUNCTIONS,
    explainer: { explain: () => Promise.reject(new Error("not called")) },
    logger: NOOP_LOGGER,
    metrics: crmMetrics(NOOP_METER),
    ...over,
  });
  const handler = service.handlers.get(DeploymentService.method.watchClassRuntimes);
  const watch = (caller = "pm") => {
    const abort = new AbortController();
    const request = create(WatchClassRuntimesRequestSchema, { deploymentId: "x" });
    const events = handler?.(request, { signal: abort.signal, caller } as Call) as AsyncGenerator<Event>;
    const next = async (): Promise<Event> => (await events.next()).value as Event;
    return { next, stop: () => abort.abort(), ended: () => events.next() };
  };
  return { time: ambient.time, classes, watch };
}

function putClass(classes: MemoryClasses, name: string): void {
  classes.put({
    apiVersion: "oaas.io/v1alpha1",
    kind: "ClassRuntime",
    metadata: { name, namespace: "shop" },
    spec: { state_spec: {}, origin: { deployment_id: name } },
  });
}

test("rejects watch calls above the limit until one ends", async () => {
  const { watch } = setUp({ maxWatchers: 1 });
  const first = watch();
  expect((await first.next()).type).toBe(ClassRuntimeEventType.SNAPSHOT_STARTED);
  const rejected: unknown = await watch()
    .next()
    .catch((thrown: unknown) => thrown);
  expect(isFault(rejected, "resource-exhausted")).toBe(true);
  await first.next();
  first.stop();
  expect((await first.ended()).done).toBe(true);
  expect((await watch().next()).type).toBe(ClassRuntimeEventType.SNAPSHOT_STARTED);
});

test("limits the watch calls of one caller to a quarter, so that others can watch", async () => {
  const { watch } = setUp({ maxWatchers: 8 });
  const started = async (caller: string) => {
    const watcher = watch(caller);
    expect((await watcher.next()).type).toBe(ClassRuntimeEventType.SNAPSHOT_STARTED);
    return watcher;
  };
  const [first] = [await started("a"), await started("a")];
  await expect(watch("a").next()).rejects.toThrow("a has 2 watch calls, a quarter of OPRC_CRM_LIMITS_WATCHERS");
  await started("b");
  await first.next();
  first.stop();
  await first.ended();
  await started("a");
});

test("sends bookmarks on an idle stream, also while other objects change", async () => {
  const { time, classes, watch } = setUp({ bookmarkMs: 1_000 });
  const watcher = watch();
  await watcher.next();
  const { resumeToken: first } = await watcher.next();
  const bookmark = watcher.next();
  for (let n = 0; n < 20; n += 1) {
    putClass(classes, "another-class");
    await time.advance(100);
  }
  const { type, resumeToken } = await bookmark;
  expect(type).toBe(ClassRuntimeEventType.BOOKMARK);
  expect(resumeToken).not.toBe(first);
});
