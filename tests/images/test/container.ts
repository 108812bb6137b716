import { chmodSync, mkdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { runCommand, startProcess, type ProcessUnderTest } from "@oaas/testkit";

/** The part of a manifest that is used here. */
interface Manifest {
  readonly config: { readonly digest: string };
  readonly layers: readonly { readonly digest: string }[];
  readonly manifests: readonly { readonly digest: string; readonly platform: { readonly architecture: string } }[];
}

interface ImageConfig {
  readonly config: {
    readonly User: string;
    readonly Env: readonly string[];
    readonly Entrypoint: readonly string[];
    readonly WorkingDir: string;
  };
}

/** An image of a layout, unpacked into a folder. */
export interface UnpackedImage {
  readonly root: string;
  readonly config: ImageConfig["config"];
}

function readBlob(layout: string, digest: string): unknown {
  return JSON.parse(readFileSync(blobFile(layout, digest), "utf8"));
}

function blobFile(layout: string, digest: string): string {
  return path.join(layout, "blobs", digest.replace(":", "/"));
}

/** The digest of the multi-arch index. */
export function indexDigest(layout: string): string {
  const { manifests } = JSON.parse(readFileSync(path.join(layout, "index.json"), "utf8")) as Manifest;
  return manifests[0]?.digest ?? "";
}

/** Unpacks the layers of one platform with tar, with owners and modes. Needs root. */
export async function unpackImage(layout: string, architecture: string, root: string): Promise<UnpackedImage> {
  const index = readBlob(layout, indexDigest(layout)) as Manifest;
  const wanted = index.manifests.find(({ platform }) => platform.architecture === architecture);
  const manifest = readBlob(layout, wanted?.digest ?? "") as Manifest;
  mkdirSync(root);
  chmodSync(root, 0o755);
  for (const { digest } of manifest.layers) {
    const args = ["--numeric-owner", "-xpzf", blobFile(layout, digest), "-C", root];
    const { exitCode, stderr } = await runCommand("tar", args);
    if (exitCode !== 0) throw new Error(stderr);
  }
  return { root, config: (readBlob(layout, manifest.config.digest) as ImageConfig).config };
}

/**
 * Prepares an unpacked root as container runtimes do: read-only, with a private /proc, and with a writable folder for
 * each volume. The program runs with the user, environment and entrypoint of the image, as process 1.
 */
const ENTER = `set -e
root=$1 user=$2 folder=$3 volumes=$4; shift 4
mount --bind "$root" "$root"
mount -o remount,bind,ro "$root"
mount -t proc proc "$root/proc"
for volume in $volumes; do mount -t tmpfs -o mode=0750,uid=65532,gid=65532 tmpfs "$root$volume"; done
exec chroot --userspec="$user" "$root" /usr/bin/node -e '
  const [folder, program, ...args] = process.argv.slice(1);
  process.chdir(folder);
  process.execve(program, [program, ...args], process.env);
' "$folder" "$@"`;

export interface ContainerOptions {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Folders that are writable. */
  readonly volumes?: readonly string[];
}

/** The command that runs an image. It shares the network of this machine. */
function command({ root, config }: UnpackedImage, options: ContainerOptions): readonly string[] {
  mkdirSync(path.join(root, "proc"), { recursive: true });
  const { args = [], volumes = [] } = options;
  const entered = [root, config.User, config.WorkingDir, volumes.join(" "), ...config.Entrypoint, ...args];
  return ["--mount", "--pid", "--fork", "--kill-child", "/bin/sh", "-c", ENTER, "enter", ...entered];
}

function environment({ config }: UnpackedImage, options: ContainerOptions): Record<string, string> {
  const own = config.Env.map((variable) => [
    variable.slice(0, variable.indexOf("=")),
    variable.slice(variable.indexOf("=") + 1),
  ]);
  // The shell before the program needs the tools of this machine.
  return { ...(Object.fromEntries(own) as Record<string, string>), ...options.env, PATH: process.env["PATH"] ?? "" };
}

export async function runContainer(
  image: UnpackedImage,
  options: ContainerOptions,
): Promise<{ readonly exitCode: number; readonly output: string }> {
  const { exitCode, stdout, stderr } = await runCommand("unshare", command(image, options), {
    env: environment(image, options),
    timeoutMs: 120_000,
  });
  return { exitCode, output: stdout + stderr };
}

export function startContainer(
  image: UnpackedImage,
  logFile: string,
  options: ContainerOptions,
): Promise<ProcessUnderTest> {
  return startProcess({
    name: path.basename(image.root),
    command: "unshare",
    args: command(image, options),
    cwd: path.dirname(logFile),
    logFile,
    env: environment(image, options),
  });
}
