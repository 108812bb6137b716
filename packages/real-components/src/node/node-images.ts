import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { componentFile } from "../components/cache/component-file.ts";
import type { ImageFile, ImageLayer, ImageSpec } from "./image-archive.ts";
import { PAUSE_IMAGE } from "./node-files.ts";

/** The container that holds the namespaces of a pod. */
export function pauseImage(): ImageSpec {
  return {
    reference: PAUSE_IMAGE,
    layers: [[{ path: "pause", source: componentFile("pause-container"), executable: true }]],
    entrypoint: ["/pause"],
  };
}

/** Node and the libraries it is linked with, for images of functions. */
export async function nodeLayer(node = process.execPath): Promise<ImageLayer> {
  const { stdout } = await promisify(execFile)("ldd", [node]);
  return [{ path: "usr/bin/node", source: node, executable: true }, ...librariesIn(stdout)];
}

/** The files in the output of ldd, at the same paths in the image; the loader is named by the program itself. */
export function librariesIn(output: string): readonly ImageFile[] {
  return output
    .split("\n")
    .map((line) => /(?:=> )?(\/\S+) \(0x/.exec(line)?.[1])
    .filter((path) => path !== undefined)
    .map((path) => ({ path: path.slice(1), source: path, executable: true }));
}

/** An image that runs a program of Node. */
export function nodeProgramImage(
  reference: string,
  node: ImageLayer,
  program: { readonly files: ImageLayer; readonly main: string; readonly env?: Readonly<Record<string, string>> },
): ImageSpec {
  return {
    reference,
    layers: [node, program.files],
    entrypoint: ["/usr/bin/node", program.main],
    ...(program.env === undefined ? {} : { env: program.env }),
  };
}
