import { writeFile } from "node:fs/promises";
import path from "node:path";
import { runCommand, type CommandResult } from "@oaas/testkit";

const CLI = path.resolve(import.meta.dirname, "..", "..", "..", "apps", "cli", "src", "main.ts");

/** A class without state, for the cluster `local`. */
const DOCUMENTS = {
  "package.yaml": `
name: hello
version: 1.0.0
classes:
  - key: Hello
    function_bindings:
      - { name: greet, function_key: Hello.greet }
functions:
  - key: Hello.greet
    provision_config: { container_image: "example.test/greet:1" }
`,
  "deployment.yaml": `
key: hello
package_name: hello
class_key: Hello
target_clusters: [local]
`,
};

/** `oaas apply --wait` of a class. */
export async function applyClass(folder: string, pm: { address: string }, token: string): Promise<CommandResult> {
  const files: string[] = [];
  for (const [name, text] of Object.entries(DOCUMENTS)) {
    const file = path.join(folder, name);
    await writeFile(file, text);
    files.push("-f", file);
  }
  return runCommand(process.execPath, [CLI, "apply", ...files, "--wait", "--timeout", "120s"], {
    env: { OAAS_PM_URL: `http://${pm.address}:8080`, OAAS_TOKEN: token, HOME: folder },
    timeoutMs: 150_000,
  });
}

/** The reports of classes that the package manager accepted, from its metrics port. */
export async function acceptedReports(pm: { address: string }): Promise<number> {
  const metrics = await (await fetch(`http://${pm.address}:9088/metrics`)).text();
  const [, count = "0"] =
    /^grpc_server_handled_total\{[^}]*ReportDeploymentStatus[^}]*code="OK"[^}]*\} (\d+)/m.exec(metrics) ?? [];
  return Number(count);
}

/** What the package manager says about its connection to the cluster `local`. */
export async function clusterHealth(pm: { address: string }, token: string): Promise<string> {
  const url = `http://${pm.address}:8080/api/v1/clusters/local/health?refresh=true`;
  return (await fetch(url, { headers: { authorization: `Bearer ${token}` } })).text();
}
