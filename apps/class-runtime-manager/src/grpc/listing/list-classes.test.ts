import { create } from "@bufbuild/protobuf";
import { ListClassRuntimesRequestSchema } from "@oaas/contracts/grpc";
import { expect, test } from "vitest";
import { ChangeLog } from "./change-log.ts";
import { listClasses } from "./list-classes.ts";
import { MemoryClasses } from "../../classes/testing/memory-classes.ts";
import type { StoredClass } from "../../classes/ports.ts";

test("a record of a class runtime's very name is on a page of its own, too", () => {
  const classes = new MemoryClasses();
  const input = (name: string) => ({
    apiVersion: "oaas.io/v1alpha1" as const,
    kind: "ClassRuntime" as const,
    metadata: { name, namespace: "shop" },
    spec: { odgm_config: { collections: ["c"] } },
  });
  const stored = ["a", "b"].map((name) => classes.put(input(name)));
  const record: StoredClass = { ...(stored[0] as StoredClass), writtenAs: "DeploymentRecord" };
  const directory = { ...everything(classes), list: () => [record, ...stored] };
  const log = new ChangeLog(classes, "e");
  const deps = { directory, log, namespaces: { served: "all" as const, fallback: "shop" } };
  const seen: string[] = [];
  for (let pageToken = "", pages = 0; pages < 5; pages += 1) {
    const page = listClasses(create(ListClassRuntimesRequestSchema, { limit: 1, pageToken }), deps);
    seen.push(...(page.items ?? []).map(({ name }) => name ?? ""));
    pageToken = page.nextPageToken ?? "";
    if (pageToken === "") break;
  }
  expect(seen).toEqual(["a", "a", "b"]);
});

function everything(classes: MemoryClasses) {
  return {
    isSynced: true,
    size: 3,
    find: (id: string) => classes.find(id),
    onChange: (handler: Parameters<MemoryClasses["onChange"]>[0]) => classes.onChange(handler),
  };
}
