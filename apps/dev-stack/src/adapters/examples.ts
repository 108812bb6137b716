import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { parse } from "yaml";
import type { Example } from "../platform/ports.ts";

const FOLDER = path.resolve(import.meta.dirname, "..", "..", "..", "..", "examples");

/** Whether this program runs in a whole checkout, and not as one bundled file. */
export function isCheckout(): boolean {
  return existsSync(path.join(FOLDER, "packages"));
}

/** The deployments that every start makes when they are not there: a class of three functions and the state they share. */
export function startExamples(): readonly Example[] {
  return [{ package: read("packages", "shop.yaml"), deployment: read("deployments", "shop-order.yaml") }];
}

function read(...file: string[]): Record<string, unknown> {
  return parse(readFileSync(path.join(FOLDER, ...file), "utf8")) as Record<string, unknown>;
}
