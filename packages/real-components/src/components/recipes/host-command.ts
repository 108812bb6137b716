import type { HostCommand } from "../component.ts";
import { onPath } from "../cache/cache.ts";
import { ObtainError } from "../obtain-error.ts";
import { runStep, type RecipeContext } from "../step.ts";
import { requireDebian12 } from "./debian.ts";

const QUIETLY = { DEBIAN_FRONTEND: "noninteractive" };

/** Installs the Debian package of a missing command; needs root, and is the only recipe that changes the system. */
export async function makeHostCommand(recipe: HostCommand, context: RecipeContext): Promise<void> {
  if (onPath(recipe.command) !== undefined) return;
  await requireDebian12();
  if (process.getuid?.() !== 0) {
    throw new ObtainError(
      `${recipe.command} is not on PATH, and installing it needs root`,
      `run "apt-get install --no-install-recommends ${recipe.debianPackage}" as root`,
    );
  }
  const install = (): Promise<string> =>
    apt(context, `installing ${recipe.debianPackage}`, [
      "install",
      "-y",
      "--no-install-recommends",
      recipe.debianPackage,
    ]);
  try {
    await install();
  } catch (error) {
    if (!(error instanceof ObtainError)) throw error;
    await apt(context, "fetching package lists", ["update"]);
    await install();
  }
}

function apt(context: RecipeContext, title: string, args: readonly string[]): Promise<string> {
  return runStep(context, {
    title,
    command: "apt-get",
    args: ["-o", "DPkg::Lock::Timeout=300", ...args],
    cwd: context.folder,
    env: QUIETLY,
  });
}
