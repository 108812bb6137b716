import nodeModule from "node:module";
import { afterAll } from "vitest";

/** What Node compiled for one suite it need not compile for the next: each has a process of its own, which is ended before it would write that down. */
nodeModule.enableCompileCache(process.env["NODE_COMPILE_CACHE"]);
afterAll(() => nodeModule.flushCompileCache());
