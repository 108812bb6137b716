import { existsSync } from "node:fs";
import { join } from "node:path";
import { GO_MODULES, onPath } from "../cache/cache.ts";
import { ObtainError } from "../obtain-error.ts";

/** Makes builds independent of the machine. */
export const GO_ENV = { CGO_ENABLED: "0", GOFLAGS: "-buildvcs=false", GOWORK: "off" };

/** The default folder of the Go archive, which may not be on PATH. */
const UNPACKED_GO = "/usr/local/go/bin/go";

/** One of our Go modules and the Go command for it. */
export interface GoModule {
  readonly go: string;
  readonly folder: string;
}

/** Finds Go for one of our modules; throws with a fix if Go is missing. */
export function goModule(name: string): GoModule {
  const go = onPath("go") ?? (existsSync(UNPACKED_GO) ? UNPACKED_GO : undefined);
  if (go === undefined) {
    throw new ObtainError(
      "Go is not installed",
      'install Go 1.26 or newer so that "go version" works, then run it again',
    );
  }
  return { go, folder: join(GO_MODULES, name) };
}
