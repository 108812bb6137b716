import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { parseAllDocuments } from "yaml";
import type { Example } from "../platform/ports.ts";

const FOLDER = path.resolve(import.meta.dirname, "..", "..", "..", "..", "examples");

/** Whether this program runs in a whole checkout, and not as one bundled file. */
export function isCheckout(): boolean {
  return existsSync(path.join(FOLDER, "packages"));
}

/**
 * What every start in a checkout deploys when it is not there, from the smallest on: one function in one cluster; an availability target and strong
 * consistency over three; three functions and the state they share, in every cluster there is.
 */
export function startExamples(): readonly Example[] {
  if (!isCheckout()) return [];
  return [
    example(["hello/hello.yaml"]),
    example(["multi-cluster/ledger.yaml"]),
    { ...example(["packages/shop.yaml", "deployments/shop-order.yaml"]), isEverywhere: true },
  ];
}

/** A package, then a deployment of it, in one file or two. */
function example(files: readonly string[]): Example {
  const documents = files.flatMap((file) => parseAllDocuments(readFileSync(path.join(FOLDER, file), "utf8")));
  const [pack, deployment] = documents.map((document) => document.toJS() as Record<string, unknown>);
  if (pack === undefined || deployment === undefined) throw new Error(`${files.join(", ")}: no package and deployment`);
  return { package: pack, deployment };
}
