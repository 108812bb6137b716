import { create } from "@bufbuild/protobuf";
import { ListClassRuntimesRequestSchema } from "@oaas/contracts/grpc";
import { expect, test } from "vitest";
import { ChangeLog } from "./change-log.ts";
import { listClasses } from "./list-classes.ts";
import { MemoryClasses } from "../../classes/testing/memory-classes.ts";
import type { StoredClass } from "../../classes/ports.ts";

test("pages through a record with the name of a class runtime", () => {
  const classes = new MemoryClasses();
  const input = (name: string) => ({
    apiVersion: "oaas.io/v1alpha1" as const,
    kind: "ClassRuntime" as const,
    metadata: { name, namespace: "shop" },
    spec: { odgm_config: { collections: ["c"] } },
  });
  const stored = ["a", "b"].map((name) => classes.put(input(name)));
  const record: StoredClass = { ...(stored[0] as StoredClass), storedAs: "DeploymentRecord" };
  const directory = { ...directoryOf(classes), list: () => [record, ...stored] };
  const log = new ChangeLog(classes, "e");
  const deps = { directory, log, namespaces: { served: "all" as const, fallback: "shop" } };
  const listed: string[] = [];
  for (let pageToken = "", pages = 0; pages < 5; pages += 1) {
    const page = listClasses(create(ListClassRuntimesRequestSchema, { limit: 1, pageToken }), deps);
    listed.push(...(page.items ?? []).map(({ name }) => name ?? ""));
    pageToken = page.nextPageToken ?? "";
    if (pageToken === "") break;
  }
  expect(listed).toEqual(["a", "a", "b"]);
});

function directoryOf(classes: MemoryClasses) {
  return {
    isSynced: true,
    size: 3,
    find: (id: string) => classes.find(id),
    onChange: (handler: Parameters<MemoryClasses["onChange"]>[0]) => classes.onChange(handler),
  };
}
