import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { nodeLayer, nodeProgramImage, writeImageArchive, type ImageLayer } from "@oaas/real-components";
import { rolldown } from "rolldown";

const ROOT = path.resolve(import.meta.dirname, "..", "..", "..");
const GREETER = path.join(ROOT, "examples", "greeter-service");
const STATE_STORE = path.join(import.meta.dirname, "programs", "state-store.ts");

/** The greeter of the example is in every stack with --node; this is its next version. */
export const NEXT_GREETER_IMAGE = "registry.example.test/greeter:2.0.0";
export const STATE_STORE_IMAGE = "oaas.local/state-store:1";

/** Writes the images of the suite into one archive. */
export async function writeTestImages(folder: string): Promise<string> {
  const [node, stateStore] = await Promise.all([nodeLayer(), bundleProgram(STATE_STORE)]);
  const archive = path.join(folder, "test-images.tar");
  await writeImageArchive(
    [
      nodeProgramImage(NEXT_GREETER_IMAGE, node, { files: nextGreeter(), main: "/app/main.mjs" }),
      nodeProgramImage(STATE_STORE_IMAGE, node, {
        files: [{ path: "app/main.mjs", content: stateStore }],
        main: "/app/main.mjs",
      }),
    ],
    archive,
  );
  return archive;
}

/** The greeter with another greeting. */
function nextGreeter(): ImageLayer {
  return readdirSync(GREETER)
    .filter((file) => file.endsWith(".mjs"))
    .map((file) => {
      const content = readFileSync(path.join(GREETER, file), "utf8");
      return { path: `app/${file}`, content: content.replace("`Hello, ", "`Welcome, ") };
    });
}

/** A program of the tests as one file. */
export async function bundleProgram(main: string): Promise<string> {
  const build = await rolldown({ input: main, platform: "node", logLevel: "silent" });
  try {
    const { output } = await build.generate({ format: "esm", minify: true, codeSplitting: false });
    return output[0].code;
  } finally {
    await build.close();
  }
}
