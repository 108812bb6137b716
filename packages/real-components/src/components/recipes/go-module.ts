import { existsSync } from "node:fs";
import { join } from "node:path";
import { GO_MODULES, onPath } from "../cache.ts";
import { NotObtained } from "../not-obtained.ts";

/** Nothing of the machine gets into what Go makes. */
export const GO_ENV = { CGO_ENABLED: "0", GOFLAGS: "-buildvcs=false", GOWORK: "off" };

/** Where Go's own archive is unpacked by its instructions; putting that on PATH is left to the user there. */
const UNPACKED_GO = "/usr/local/go/bin/go";

/** One of our Go modules, and the Go to work on it with. */
export interface GoModule {
  readonly go: string;
  readonly folder: string;
}

/** Finds Go for a module of ours, or says that it is not there. */
export function goModule(name: string): GoModule {
  const go = onPath("go") ?? (existsSync(UNPACKED_GO) ? UNPACKED_GO : undefined);
  if (go === undefined) {
    throw new NotObtained(
      "Go is not installed",
      'install Go 1.26 or newer so that "go version" works, then run it again',
    );
  }
  return { go, folder: join(GO_MODULES, name) };
}
