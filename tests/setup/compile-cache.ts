import nodeModule from "node:module";
import { afterAll } from "vitest";

/**
 * Flushes the compile cache of Node after each suite, because the process of a suite is killed before it would do so.
 */
nodeModule.enableCompileCache(process.env["NODE_COMPILE_CACHE"]);
afterAll(() => nodeModule.flushCompileCache());
