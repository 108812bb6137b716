import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { componentFile, describeWith, makeRunFolder, runCommand } from "@oaas/testkit";
import { expect, it } from "vitest";
import { ROOT } from "../../../tools/tasks/root.ts";

describeWith(["helm"], "a release with charts", () => {
  it("packages every chart, the umbrella with its dependencies", async () => {
    const folder = await makeRunFolder("release-charts");
    const out = path.join(folder.path, "release");
    const args = [
      path.join(ROOT, "tools", "run.ts"),
      "release",
      "--dry-run",
      "--without-images",
      "--without-plugin",
      "--out",
      out,
    ];
    const env = { ...(process.env as Record<string, string>), HELM: componentFile("helm"), HOME: folder.path };
    const { exitCode, stderr } = await runCommand(process.execPath, args, { env, timeoutMs: 300_000 });
    expect(exitCode, stderr).toBe(0);
    const { version } = JSON.parse(readFileSync(path.join(ROOT, "package.json"), "utf8")) as { version: string };
    const charts = ["oaas", "oaas-class-runtime-manager", "oaas-crds", "oaas-package-manager"];
    expect(readdirSync(path.join(out, "charts")).toSorted()).toEqual(
      charts.map((name) => `${name}-${version}.tgz`).toSorted(),
    );
    const umbrella = path.join(out, "charts", `oaas-${version}.tgz`);
    const { stdout } = await runCommand("tar", ["-tzf", umbrella]);
    for (const name of charts.slice(1)) expect(stdout).toContain(`oaas/charts/${name}/Chart.yaml`);
  });
});
