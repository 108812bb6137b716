import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import type { KubeObject } from "@oaas/kube-core";
import { parse } from "yaml";

const EXAMPLE = path.resolve(
  import.meta.dirname,
  "..",
  "..",
  "..",
  "..",
  "examples",
  "order-class",
  "class-runtime.yaml",
);

/** Whether this program runs in a whole checkout, and not as one bundled file. */
export function isCheckout(): boolean {
  return existsSync(EXAMPLE);
}

/** The class that every start makes: three functions and the state they share. */
export function exampleClasses(): readonly KubeObject[] {
  return [parse(readFileSync(EXAMPLE, "utf8")) as KubeObject];
}
