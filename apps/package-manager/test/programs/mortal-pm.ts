/**
 * The package manager, counting the writes of its store in a file, and killing itself at the one that another file names. Everything
 * else is the program as it is.
 */
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { runService } from "@oaas/service-shell";
import { openStore } from "../../src/adapters/open-store.ts";
import { packageManager } from "../../src/program.ts";
import { hookedStore } from "../fakes/mortal-store.ts";
import type { Doom } from "../mortal-pm.ts";

const { WRITES_FILE: writes = "", DOOM_FILE: doomFile = "" } = process.env;

function dieIf(nth: number, moment: Doom["moment"]): void {
  if (!existsSync(doomFile)) return;
  const doom = JSON.parse(readFileSync(doomFile, "utf8")) as Doom;
  // Or past it: another write may come between counting them and naming one.
  if (nth >= doom.nth && doom.moment === moment) process.kill(process.pid, "SIGKILL");
}

await runService(
  packageManager((...settings) =>
    hookedStore(openStore(...settings), () => async (_, commit) => {
      appendFileSync(writes, ".");
      const nth = readFileSync(writes).length;
      dieIf(nth, "before");
      const committed = await commit();
      dieIf(nth, "after");
      return committed;
    }),
  ),
);
