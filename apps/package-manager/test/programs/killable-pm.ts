/**
 * The package manager program with a hooked store: it counts store writes in one file and kills itself at the write that
 * another file names.
 */
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { runService } from "@oaas/service-shell";
import { openStore } from "../../src/adapters/open-store.ts";
import { packageManager } from "../../src/program.ts";
import { hookedStore } from "../fakes/hooked-store.ts";
import type { KillPoint } from "../killable-pm.ts";

const { WRITES_FILE: writes = "", KILL_POINT_FILE: killPointFile = "" } = process.env;

function killIfDue(nth: number, moment: KillPoint["moment"]): void {
  if (!existsSync(killPointFile)) return;
  const killPoint = JSON.parse(readFileSync(killPointFile, "utf8")) as KillPoint;
  // Or after it: a write may occur before the file is in place.
  if (nth >= killPoint.nth && killPoint.moment === moment) process.kill(process.pid, "SIGKILL");
}

await runService(
  packageManager((...settings) =>
    hookedStore(openStore(...settings), () => async (_, commit) => {
      appendFileSync(writes, ".");
      const nth = readFileSync(writes).length;
      killIfDue(nth, "before");
      const committed = await commit();
      killIfDue(nth, "after");
      return committed;
    }),
  ),
);
