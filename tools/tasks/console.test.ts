import { execFile } from "node:child_process";
import { chmod, cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ROOT } from "./root.ts";

const run = promisify(execFile);

/** What a start of the local stack runs, copied into another clone. */
const COPIED = [
  "package.json",
  "tools/run.ts",
  "tools/tasks/command.ts",
  "tools/tasks/console.ts",
  "tools/tasks/pass-through.ts",
  "tools/tasks/root.ts",
  "apps/cli/src/adapters/local-stack.ts",
  "apps/cli/src/exit-code.ts",
];

/** Writes its arguments to the log, and the page into the folder of its last argument. */
const NPM = `#!/bin/sh
echo "npm $2 $4" >> "$LOG"
[ -z "$BROKEN" ] || { echo "no such plugin"; exit 1; }
for folder; do :; done
mkdir -p "$folder" && echo built > "$folder/index.html"
`;

const STACK = `
import { appendFileSync } from "node:fs";
appendFileSync(process.env.LOG, ["stack", ...process.argv.slice(2)].join(" ") + "\\n");
process.disconnect?.();
`;

const UP = `
import { runInForeground } from "./apps/cli/src/adapters/local-stack.ts";
process.exitCode = await runInForeground(["--from-oaas-up"]);
`;

/** The programs that start the local stack. */
const STARTS = {
  "npm start": ["tools/run.ts", "start", "--flag"],
  "oaas up": ["up.ts"],
};

describe.each(Object.entries(STARTS))("%s", (_, program) => {
  let clone = "";
  const write = async (file: string, text: string): Promise<void> => {
    await mkdir(path.dirname(path.join(clone, file)), { recursive: true });
    await writeFile(path.join(clone, file), text);
  };

  beforeEach(async () => {
    clone = await mkdtemp(path.join(tmpdir(), "oaas-clone-"));
    for (const file of COPIED) await cp(path.join(ROOT, file), path.join(clone, file), { recursive: true });
    await mkdir(path.join(clone, "node_modules"));
    await symlink(path.join(ROOT, "node_modules", "@oaas"), path.join(clone, "node_modules", "@oaas"));
    await write("bin/npm", NPM);
    await chmod(path.join(clone, "bin", "npm"), 0o755);
    await write("apps/console/src/main.tsx", "first");
    await write("apps/dev-stack/src/main.ts", STACK);
    await write("up.ts", UP);
  });
  afterEach(() => rm(clone, { recursive: true, force: true }));

  /** What it ran, and what it printed. */
  async function start(
    env: Record<string, string> = {},
  ): Promise<{ readonly ran: string[]; readonly printed: string }> {
    const log = path.join(clone, "log");
    await writeFile(log, "");
    const { stdout, stderr } = await run(process.execPath, program, {
      cwd: clone,
      env: { ...process.env, PATH: `${path.join(clone, "bin")}:${process.env["PATH"]}`, LOG: log, ...env },
    });
    return { ran: (await readFile(log, "utf8")).trim().split("\n"), printed: stdout + stderr };
  }

  const BUILD = "npm build @oaas/console";
  const stack = program.includes("start") ? "stack --flag" : "stack --from-oaas-up";

  test("builds the console before the stack when it is not built, its sources changed, or its files are gone", async () => {
    expect((await start()).ran).toEqual([BUILD, stack]);
    expect(await readFile(path.join(clone, "apps", "console", "dist", "index.html"), "utf8")).toBe("built\n");
    expect((await start()).ran, "unchanged").toEqual([stack]);
    await write("apps/console/src/main.tsx", "second");
    expect((await start()).ran, "changed").toEqual([BUILD, stack]);
    await rm(path.join(clone, "apps", "console", "dist"), { recursive: true });
    expect((await start()).ran, "gone").toEqual([BUILD, stack]);
  });

  test("starts the stack with the console of before when the build fails, says why, and tries again at the next start", async () => {
    await start();
    await write("apps/console/src/main.tsx", "mistake");
    const failed = await start({ BROKEN: "1" });
    expect(failed.ran).toEqual([BUILD, stack]);
    expect(failed.printed).toContain("no such plugin");
    expect(await readFile(path.join(clone, "apps", "console", "dist", "index.html"), "utf8")).toBe("built\n");
    expect((await start()).ran).toEqual([BUILD, stack]);
  });
});

test("npm start builds nothing to answer a question", async () => {
  const { stdout } = await run(process.execPath, [path.join(ROOT, "tools", "run.ts"), "start", "--help"], {
    env: { ...process.env, PATH: "/nonexistent" },
  });
  expect(stdout).toContain("--clusters");
});
