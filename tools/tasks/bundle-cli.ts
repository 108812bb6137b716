import path from "node:path";
import { deflateRawSync } from "node:zlib";
import { rolldown, type Plugin } from "rolldown";
import { ROOT } from "./root.ts";

const MAIN = path.join(ROOT, "apps", "cli", "src", "main.ts");
const BEHIND = path.join(ROOT, "apps", "cli", "src", "adapters", "start.ts");

/**
 * The command line as one file that prints its help at once: what stands behind `start` is in it as packed text, and is compiled when a
 * command runs. As code it would be parsed at every start, which takes as long as Node itself.
 */
export async function bundleCli(file: string): Promise<void> {
  const build = await rolldown({ input: MAIN, platform: "node", logLevel: "warn", plugins: [asText(await behind())] });
  try {
    await build.write({ file, format: "esm", minify: true, codeSplitting: false, banner: "#!/usr/bin/env node" });
  } finally {
    await build.close();
  }
}

async function behind(): Promise<string> {
  const build = await rolldown({ input: BEHIND, platform: "node", logLevel: "warn" });
  try {
    const { output } = await build.generate({ format: "cjs", minify: true, codeSplitting: false });
    return output[0].code;
  } finally {
    await build.close();
  }
}

/** A module that gives what the text exports. Node's own modules are asked for by name there and then, so that help loads none. */
function asText(code: string): Plugin {
  const packed = deflateRawSync(code, { level: 9 }).toString("base64");
  const module = `
    const builtin = (name) => process.getBuiltinModule("node:" + name);
    const text = builtin("zlib").inflateRawSync(Buffer.from("${packed}", "base64")).toString("utf8");
    const file = builtin("url").fileURLToPath(import.meta.url);
    const parts = ["exports", "require", "__filename", "__dirname"];
    const found = {};
    const run = builtin("vm").compileFunction(text, parts, { filename: file });
    run(found, builtin("module").createRequire(file), file, builtin("path").dirname(file));
    export const { start } = found;
  `;
  return { name: "as-text", load: (id) => (id === BEHIND ? { code: module, moduleType: "js" } : undefined) };
}
