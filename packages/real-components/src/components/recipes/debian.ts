import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { onPath } from "../cache.ts";
import { takeLock } from "../lock.ts";
import { NotObtained } from "../not-obtained.ts";
import { runStep, type Workshop } from "../step.ts";

const ELSEWHERE = "provide the program on a Debian 12 machine (amd64 or arm64), or skip the tests that need it";

/** Refuses every system but those on which the recipes were run. */
export async function requireDebian12(): Promise<void> {
  const release = await readFile("/etc/os-release", "utf8").catch(() => "");
  const isDebian12 = /^ID=debian$/m.test(release) && /^VERSION_ID="?12"?$/m.test(release);
  if (!isDebian12) throw new NotObtained("this recipe needs Debian 12", ELSEWHERE);
  if (process.arch !== "x64" && process.arch !== "arm64") {
    throw new NotObtained(`this recipe needs amd64 or arm64, this is ${process.arch}`, ELSEWHERE);
  }
  for (const tool of ["apt-get", "dpkg-deb"]) {
    if (onPath(tool) === undefined) throw new NotObtained(`${tool} is not on the PATH`, ELSEWHERE);
  }
}

/**
 * Downloads packages into `folder`. The system's package lists are used as they are; when they are missing or too old,
 * fresh ones are fetched into our own cache, which needs no root and changes nothing on the system.
 */
export async function downloadPackages(packages: readonly string[], folder: string, workshop: Workshop): Promise<void> {
  const download = (options: readonly string[]): Promise<string> =>
    runStep(workshop, {
      title: `downloading ${packages.join(", ")}`,
      command: "apt-get",
      args: [...options, "download", ...packages],
      cwd: folder,
    });
  try {
    await download([]);
  } catch (error) {
    if (!(error instanceof NotObtained)) throw error;
    await download(await ownPackageLists(workshop));
  }
}

async function ownPackageLists(workshop: Workshop): Promise<string[]> {
  const apt = join(workshop.cache, "apt");
  using _lock = await takeLock(join(apt, "lists.lock"), (owner) => workshop.tell(`waiting for apt lists: ${owner}`));
  const options = [
    ["Dir::State::Lists", join(apt, "lists")],
    ["Dir::Cache", join(apt, "cache")],
    ["APT::Sandbox::User", ""],
  ].flatMap(([name, value]) => ["-o", `${name}=${value}`]);
  await runStep(workshop, {
    title: "fetching package lists",
    command: "/bin/sh",
    args: [
      "-c",
      'mkdir -p "$0/lists/partial" "$0/cache/archives/partial" && exec apt-get "$@" update',
      apt,
      ...options,
    ],
    cwd: workshop.cache,
  });
  return options;
}
