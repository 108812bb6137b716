import { writeSyncTo } from "./adapters/write-sync.ts";
import { isRootHelpRequest, rootHelp } from "./root-help.cjs";

const argv = process.argv.slice(2);

if (isRootHelpRequest(argv)) writeSyncTo(1, rootHelp());
// Everything else loads on demand, so that the help page prints at once.
else process.exitCode = await (await import("./adapters/start.ts")).start(argv);
