import { globSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { rolldown } from "rolldown";
import { Lockfile } from "../supply-chain/lockfile.ts";
import { createSbom } from "../supply-chain/sbom.ts";
import { builtinsWhenNeeded } from "./builtins-when-needed.ts";
import { bundleCli } from "./bundle-cli.ts";
import { bundleConsole } from "./console.ts";
import { ROOT } from "./root.ts";

/**
 * `npm run bundle [-- --out folder --only cli]`: bundles each app with a main into one file, and writes its bill of
 * materials (CycloneDX) next to it.
 */
export async function bundle(args: readonly string[]): Promise<number> {
  const options = { out: { type: "string", default: "dist" }, only: { type: "string", multiple: true } } as const;
  const { values } = parseArgs({ args: [...args], options });
  const out = path.resolve(ROOT, values.out);
  mkdirSync(out, { recursive: true });
  const lockfile = Lockfile.read(ROOT);
  for (const main of globSync("apps/*/src/main.ts", { cwd: ROOT }).toSorted()) {
    const app = String(main.split(path.sep)[1]);
    if (values.only && !values.only.includes(app)) continue;
    const file = path.join(out, `${app}.mjs`);
    await (app === "cli" ? bundleCli(file) : bundleApp(path.join(ROOT, main), file));
    console.log(`${path.relative(ROOT, file)} (${Math.round(statSync(file).size / 1024)} kB)`);
    if (app === "package-manager") await bundleConsole(out);
    const sbom = createSbom(lockfile, `apps/${app}`, readFileSync(file));
    writeFileSync(path.join(out, `${app}.cdx.json`), `${JSON.stringify(sbom, undefined, 2)}\n`);
    console.log(`${path.relative(ROOT, out)}/${app}.cdx.json (${sbom.components.length} components)`);
  }
  return 0;
}

/**
 * Bundles an app into one ESM file without built-in modules. The file is ASCII, because V8 stores a source with any
 * other character in two bytes per character. License notices are in the source map.
 */
async function bundleApp(main: string, file: string): Promise<void> {
  const build = await rolldown({ input: main, platform: "node", logLevel: "warn", plugins: [builtinsWhenNeeded] });
  const text = { minify: true, charset: "ascii", comments: { legal: false } } as const;
  try {
    await build.write({ file, format: "esm", ...text, sourcemap: true, codeSplitting: false });
  } finally {
    await build.close();
  }
}
