import type { HostCommand } from "../component.ts";
import { onPath } from "../cache.ts";
import { NotObtained } from "../not-obtained.ts";
import { runStep, type Workshop } from "../step.ts";
import { requireDebian12 } from "./debian.ts";

const QUIETLY = { DEBIAN_FRONTEND: "noninteractive" };

/** Installs the package of a command that is not on the PATH; needs root, and is the only recipe that changes the system. */
export async function makeHostCommand(recipe: HostCommand, workshop: Workshop): Promise<void> {
  if (onPath(recipe.command) !== undefined) return;
  await requireDebian12();
  if (process.getuid?.() !== 0) {
    throw new NotObtained(
      `${recipe.command} is not on the PATH and installing it needs root`,
      `run "apt-get install --no-install-recommends ${recipe.debianPackage}" as root`,
    );
  }
  const install = (): Promise<string> =>
    apt(workshop, `installing ${recipe.debianPackage}`, [
      "install",
      "-y",
      "--no-install-recommends",
      recipe.debianPackage,
    ]);
  try {
    await install();
  } catch (error) {
    if (!(error instanceof NotObtained)) throw error;
    await apt(workshop, "fetching package lists", ["update"]);
    await install();
  }
}

function apt(workshop: Workshop, title: string, args: readonly string[]): Promise<string> {
  return runStep(workshop, {
    title,
    command: "apt-get",
    args: ["-o", "DPkg::Lock::Timeout=300", ...args],
    cwd: workshop.folder,
    env: QUIETLY,
  });
}
