import { readdirSync } from "node:fs";
import path from "node:path";
import { componentFile } from "@oaas/testkit";
import { nodeLayer, nodeProgramImage, pauseImage, writeImageArchive, type ImageFile } from "@oaas/real-components";
import { bundleProgram } from "../../real-node/src/test-images.ts";

const GREETER_FILES = path.resolve(import.meta.dirname, "..", "..", "..", "examples", "greeter-service");

export const GREETER = "registry.example.test/greeter:1.0.0";
export const API_LOAD = "oaas.local/api-load:1";
export const ETCD = "oaas.local/etcd:1";
export const PROMETHEUS = "oaas.local/prometheus:1";

/** The program behind the script that sets the libraries of this machine. */
const prometheusFile = (): string => path.resolve(componentFile("prometheus"), "..", "..", "usr", "bin", "prometheus");

/** Writes the images of everything on the node that is not the platform itself. Returns the archive. */
export async function writeNodeImages(folder: string): Promise<string> {
  const archive = path.join(folder, "node-images.tar");
  const [node, load] = await Promise.all([
    nodeLayer(),
    bundleProgram(path.join(import.meta.dirname, "programs", "api-load.ts")),
  ]);
  const greeter = readdirSync(GREETER_FILES)
    .filter((file) => file.endsWith(".mjs"))
    .map((file) => ({ path: `app/${file}`, source: path.join(GREETER_FILES, file) }));
  await writeImageArchive(
    [
      pauseImage(),
      nodeProgramImage(GREETER, node, { files: greeter, main: "/app/main.mjs" }),
      nodeProgramImage(API_LOAD, node, { files: [{ path: "app/main.mjs", content: load }], main: "/app/main.mjs" }),
      { reference: ETCD, layers: [[executable("etcd", componentFile("etcd"))]], entrypoint: ["/usr/bin/etcd"] },
      {
        reference: PROMETHEUS,
        // The libraries of Node are those that it is linked with.
        layers: [node, [executable("prometheus", prometheusFile())]],
        entrypoint: ["/usr/bin/prometheus"],
      },
    ],
    archive,
  );
  return archive;
}

function executable(name: string, source: string): ImageFile {
  return { path: `usr/bin/${name}`, source, executable: true };
}
