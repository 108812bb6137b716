import path from "node:path";
import { rolldown, type Plugin } from "rolldown";
import { ROOT } from "./root.ts";

const MAIN = path.join(ROOT, "apps", "cli", "src", "main.ts");
const BEHIND = path.join(ROOT, "apps", "cli", "src", "adapters", "start.ts");

/**
 * The command line as one file that prints its help at once: what stands behind `start` is in it as text, and is compiled when a
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

function asText(code: string): Plugin {
  const module = `
    import { createRequire } from "node:module";
    import path from "node:path";
    import { fileURLToPath } from "node:url";
    import { compileFunction } from "node:vm";
    const file = fileURLToPath(import.meta.url);
    const parts = ["exports", "require", "__filename", "__dirname"];
    const found = {};
    compileFunction(${JSON.stringify(code)}, parts, { filename: file })(found, createRequire(file), file, path.dirname(file));
    export const { start } = found;
  `;
  return { name: "as-text", load: (id) => (id === BEHIND ? { code: module, moduleType: "js" } : undefined) };
}
