import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { parseYaml, YAML_FILE_LIMITS } from "@oaas/foundation/yaml";
import type { Example } from "../package-manager/examples.ts";

const FOLDER = path.resolve(import.meta.dirname, "..", "..", "..", "..", "examples");

/** Whether this program runs in a clone of the repository instead of as a bundle. */
export function isClone(): boolean {
  return existsSync(path.join(FOLDER, "packages"));
}

/**
 * The examples that every start in a clone deploys if they are missing: one function in one cluster; an availability
 * target with strong consistency in three clusters; three functions with shared state in all clusters; a latency
 * requirement that is enforced under a changing load.
 */
export function loadExamples(): readonly Example[] {
  if (!isClone()) return [];
  return [
    readExample(["hello/hello.yaml"]),
    readExample(["multi-cluster/ledger.yaml"]),
    readExample(["enforcement/tickets.yaml"]),
    { ...readExample(["packages/shop.yaml", "deployments/shop-order.yaml"]), inAllClusters: true },
  ];
}

/** The examples of a start with real nodes: those whose images it builds itself. */
export function loadNodeExamples(): readonly Example[] {
  return isClone() ? [readExample(["greeter-service/greeter.yaml"])] : [];
}

/** Reads a package and its deployment from one or two files. */
function readExample(files: readonly string[]): Example {
  const documents = files.flatMap(
    (file) => parseYaml(readFileSync(path.join(FOLDER, file), "utf8"), { limits: YAML_FILE_LIMITS }).documents,
  );
  const [pack, deployment] = documents.map(({ document }) => document.toJS() as Record<string, unknown>);
  if (pack === undefined || deployment === undefined)
    throw new Error(`${files.join(", ")}: expected a package and a deployment`);
  return { package: pack, deployment };
}
