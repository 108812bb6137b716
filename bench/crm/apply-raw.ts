/**
 * Applies objects directly to the API server with our client in its own process: the upper bound for a manager.
 * Arguments: kubeconfig, file of objects, concurrency.
 */
import { readFile } from "node:fs/promises";
import type { KubeObject } from "@oaas/kube-core";
import { FIELD_MANAGER } from "../../apps/class-runtime-manager/src/controller/children/ownership.ts";
import { CORE_CHILD_KINDS } from "../../apps/class-runtime-manager/src/controller/kinds/resource-types.ts";
import { cpuMillis } from "../kube/programs/process-figures.ts";
import { atOnce, freeClient } from "./lab.ts";

const [kubeconfig = "", file = "", width = ""] = process.argv.slice(2);
const objects = JSON.parse(await readFile(file, "utf8")) as KubeObject[];
const client = freeClient(kubeconfig);
const kinds = new Map(CORE_CHILD_KINDS.map((kind) => [kind.kind, client.resource(kind)]));
const apply = async (object: KubeObject): Promise<void> => {
  await kinds.get(object.kind)?.apply(object, { fieldManager: FIELD_MANAGER });
};
const warmUp = objects.splice(0, Math.ceil(objects.length / 20));
await atOnce(warmUp, Number(width), apply);
const cpu = cpuMillis();
const start = performance.now();
await atOnce(objects, Number(width), apply);
const ms = performance.now() - start;
process.stdout.write(`${JSON.stringify({ applied: objects.length, ms, cpuMs: cpuMillis() - cpu })}\n`);
await client.close();
