import { writeOut } from "./adapters/write-out.ts";
import { asksForFrontPage, frontPage } from "./front-page.cjs";

const argv = process.argv.slice(2);

if (asksForFrontPage(argv)) writeOut(1, frontPage());
// Everything else loads on demand, so that the help page prints at once.
else process.exitCode = await (await import("./adapters/start.ts")).start(argv);
