/**
 * The package manager for fuzzing from outside (`npm run test:api-fuzz`): two scripted clusters, credentials, a lab, and data.
 * Prints its address, and internal errors, and runs until SIGTERM.
 */
import { createHash } from "node:crypto";
import { realAmbient } from "@oaas/foundation/real";
import { createFdDestination, createPinoLogger } from "@oaas/observability/node";
import { createMemoryLab } from "../fakes/memory-lab.ts";
import { ScriptedCrm } from "../fakes/scripted-crm.ts";
import { echoPackage, startPm } from "../running-pm.ts";

const TOKEN = process.env["FUZZ_TOKEN"] ?? "";
const crms = await Promise.all(["east", "west"].map((name) => ScriptedCrm.start({ name })));
const pm = await startPm({
  clusters: Object.fromEntries(crms.map(({ facts, url }) => [facts.name, url])),
  tokens: `fuzz:admin:${createHash("sha256").update(TOKEN).digest("hex")}`,
  lab: createMemoryLab(crms.map(({ facts }) => facts.name)),
  logger: createPinoLogger({ clock: realAmbient.clock, level: "error", destination: createFdDestination(2) }),
  env: { SERVER_HOST: "127.0.0.1", DEPLOY_WAIT: "500ms", PLANNER_MAX_REPLICAS: "3" },
});
const send = async (method: string, path: string, body: object): Promise<void> => {
  const { status, text } = await pm.call(method, path, { body, headers: { authorization: `Bearer ${TOKEN}` } });
  if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`);
};
for (const name of ["shop", "0", "a"]) {
  await send("POST", "/api/v1/packages", echoPackage(name));
  await send("POST", `/api/v1/packages/${name}`, echoPackage(name, { version: "2" }));
  const deployment = { key: name, package_name: name, class_key: "Echo", target_clusters: ["east", "west"] };
  await send("POST", "/api/v1/deployments", deployment);
  await send("PUT", `/api/v1/deployments/${name}`, { ...deployment, target_clusters: ["east"] });
}
process.stdout.write(`${pm.url}\n`);
process.once("SIGTERM", () => {
  void Promise.all([pm.close(), ...crms.map((crm) => crm.close())]).then(() => process.exit(0));
});
