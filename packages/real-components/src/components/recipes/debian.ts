import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { onPath } from "../cache/cache.ts";
import { takeLock } from "../cache/lock.ts";
import { ObtainError } from "../obtain-error.ts";
import { runStep, type RecipeContext } from "../step.ts";

const FIX = "provide the program on a Debian 12 machine (amd64 or arm64), or skip the tests that need it";

/** Rejects all systems except those on which the recipes are tested. */
export async function requireDebian12(): Promise<void> {
  const release = await readFile("/etc/os-release", "utf8").catch(() => "");
  const isDebian12 = /^ID=debian$/m.test(release) && /^VERSION_ID="?12"?$/m.test(release);
  if (!isDebian12) throw new ObtainError("this recipe needs Debian 12", FIX);
  if (process.arch !== "x64" && process.arch !== "arm64") {
    throw new ObtainError(`this recipe needs amd64 or arm64, this is ${process.arch}`, FIX);
  }
  for (const tool of ["apt-get", "dpkg-deb"]) {
    if (onPath(tool) === undefined) throw new ObtainError(`${tool} is not on PATH`, FIX);
  }
}

/**
 * Downloads packages into `folder`. Uses the system's package lists; if they are missing or outdated, fetches new ones
 * into our cache, which needs no root and does not change the system.
 */
export async function downloadPackages(
  packages: readonly string[],
  folder: string,
  context: RecipeContext,
): Promise<void> {
  const download = (options: readonly string[]): Promise<string> =>
    runStep(context, {
      title: `downloading ${packages.join(", ")}`,
      command: "apt-get",
      args: [...options, "download", ...packages],
      cwd: folder,
    });
  try {
    await download([]);
  } catch (error) {
    if (!(error instanceof ObtainError)) throw error;
    await download(await ownPackageLists(context));
  }
}

async function ownPackageLists(context: RecipeContext): Promise<string[]> {
  const apt = join(context.cache, "apt");
  using _lock = await takeLock(join(apt, "lists.lock"), (owner) =>
    context.onProgress(`waiting for apt lists: ${owner}`),
  );
  const options = [
    ["Dir::State::Lists", join(apt, "lists")],
    ["Dir::Cache", join(apt, "cache")],
    ["APT::Sandbox::User", ""],
  ].flatMap(([name, value]) => ["-o", `${name}=${value}`]);
  await runStep(context, {
    title: "fetching package lists",
    command: "/bin/sh",
    args: [
      "-c",
      'mkdir -p "$0/lists/partial" "$0/cache/archives/partial" && exec apt-get "$@" update',
      apt,
      ...options,
    ],
    cwd: context.cache,
  });
  return options;
}
