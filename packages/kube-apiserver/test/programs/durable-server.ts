import { realAmbient } from "@oaas/foundation/real";
import { openSqliteStore } from "@oaas/storage/sqlite";
import { startEmbedded } from "../../src/adapters/index.ts";

/** A durable server in a separate process, to be killed. Prints its address in one line. */
const [file = ""] = process.argv.slice(2);
const store = openSqliteStore({ ambient: realAmbient, file });
const cluster = await startEmbedded({ store });
process.stdout.write(`${cluster.url}\n`);
process.stdin.on("end", () => process.exit(0)).resume();
