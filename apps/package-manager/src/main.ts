import { runService } from "@oaas/service-shell";
import { openStore } from "./adapters/open-store.ts";
import { packageManager } from "./program.ts";

await runService(packageManager(openStore));
