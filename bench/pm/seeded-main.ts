/** The package manager on a memory store that is full from the start; otherwise `main.ts`. */
import { realAmbient } from "@oaas/foundation/real";
import { runService } from "@oaas/service-shell";
import { openMemoryStore } from "@oaas/storage/memory";
import { packageManager } from "../../apps/package-manager/src/program.ts";
import { seed } from "./seed.ts";

const store = openMemoryStore({ ambient: realAmbient });
await seed(store, Number(process.env["BENCH_PACKAGES"]), Number(process.env["BENCH_DEPLOYMENTS"]));
await runService(packageManager(() => store));
