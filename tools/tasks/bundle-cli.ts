import { appendFileSync } from "node:fs";
import path from "node:path";
import { rolldown, type Plugin } from "rolldown";
import { builtinsWhenNeeded } from "./builtins-when-needed.ts";
import { ROOT } from "./root.ts";

const MAIN = path.join(ROOT, "apps", "cli", "src", "main.ts");
const BEHIND = path.join(ROOT, "apps", "cli", "src", "adapters", "start.ts");
/**
 * The start of the comment that contains the code behind `start`, and an unused character that keeps it from ending
 * early.
 */
const MARK = "/*!behind!";
const GUARD = "\uE0FF";

/**
 * Bundles the CLI into one file that prints its help at once. The code behind `start` is stored as a comment and
 * compiled when a command runs. As code it would be parsed on every start, which takes as long as starting Node.
 */
export async function bundleCli(file: string): Promise<void> {
  const code = await bundleStart();
  if (code.includes(GUARD)) throw new Error("the code contains the guard character");
  const build = await rolldown({
    input: MAIN,
    platform: "node",
    logLevel: "warn",
    plugins: [fromComment, builtinsWhenNeeded],
  });
  try {
    await build.write({ file, format: "esm", minify: true, codeSplitting: false, banner: "#!/usr/bin/env node" });
  } finally {
    await build.close();
  }
  appendFileSync(file, `\n${MARK}${code.replaceAll("*/", `*${GUARD}/`)}*/\n`);
}

async function bundleStart(): Promise<string> {
  const build = await rolldown({
    input: BEHIND,
    platform: "node",
    logLevel: "warn",
    plugins: [builtinsWhenNeeded],
  });
  try {
    const { output } = await build.generate({ format: "cjs", minify: true, codeSplitting: false });
    return output[0].code;
  } finally {
    await build.close();
  }
}

/**
 * A module that compiles and exports the code in the comment. Node caches the compiled code in the user's cache folder;
 * without it, the code is compiled each time.
 */
const fromComment: Plugin = {
  name: "from-comment",
  load: (id) =>
    id === BEHIND
      ? {
          moduleType: "js",
          code: `
    const builtin = (name) => process.getBuiltinModule("node:" + name);
    const { Module, enableCompileCache } = builtin("module");
    const { OAAS_CACHE_DIR, HOME, USERPROFILE } = process.env;
    const home = HOME || USERPROFILE;
    const cache = OAAS_CACHE_DIR || (home && home + "/.cache/oaas");
    if (cache) enableCompileCache(cache + "/node-compile-cache");
    const file = builtin("url").fileURLToPath(import.meta.url);
    const whole = builtin("fs").readFileSync(file, "utf8");
    const text = whole.slice(whole.lastIndexOf(${JSON.stringify(MARK)}) + ${MARK.length}, whole.lastIndexOf("*/"));
    const behind = new Module(file);
    behind._compile(text.replaceAll(${JSON.stringify(GUARD)}, ""), file + ".start.cjs", "commonjs");
    export const { start } = behind.exports;
  `,
        }
      : undefined,
};
