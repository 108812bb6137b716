import { renameSync, writeFileSync } from "node:fs";
import path from "node:path";
import { DeploymentService } from "@oaas/contracts/grpc";
import { describeOnTarget, eventually, makeRunFolder, type KubernetesUnderTest, type RunFolder } from "@oaas/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startClassCluster } from "./support/class-cluster.ts";
import { startManagerProcess, type ManagerProcess } from "./support/manager-process.ts";

describeOnTarget("configuration file of the manager", { needs: ["kubectl"] }, () => {
  let cluster: KubernetesUnderTest;
  let folder: RunFolder;
  beforeAll(async () => {
    cluster = await startClassCluster();
    folder = await makeRunFolder("crm-config-file");
  }, 300_000);
  afterAll(async () => {
    await cluster.close();
    await folder.remove();
  });

  const readHealth = async ({ port }: ManagerProcess): Promise<{ readonly warnings: readonly string[] }> =>
    (await (await fetch(`http://127.0.0.1:${port}/readyz`)).json()) as { readonly warnings: readonly string[] };

  test("reloads tokens and the log level, and keeps them while the file is invalid", async () => {
    const file = path.join(folder.path, "crm.yaml");
    const replace = (text: string): void => {
      writeFileSync(`${file}.new`, text);
      renameSync(`${file}.new`, file);
    };
    const token = (name: string): string => {
      const tokenFile = path.join(folder.path, name);
      writeFileSync(tokenFile, `${name}-s3cret\n`);
      return tokenFile;
    };
    const settings = (tokenFile: string, level: string): string =>
      `k8s: {namespaces: [classes]}\nlog: {level: ${level}}\nsecurity: {tokensFile: ${tokenFile}}\n`;
    replace(settings(token("one"), "info"));
    const env = { OPRC_CRM_CONFIG_FILE: file, LOG_LEVEL: "" };
    const manager = await startManagerProcess(cluster.kubeconfig, folder.path, env);
    const isAccepted = async (name: string): Promise<boolean> => {
      const client = manager.channel.client(DeploymentService);
      const headers = { authorization: `Bearer ${name}-s3cret` };
      return client.listClassRuntimes({}, { headers }).then(
        () => true,
        () => false,
      );
    };
    await eventually(async () => expect(await isAccepted("one")).toBe(true));
    expect(await isAccepted("two")).toBe(false);

    replace(settings(token("two"), "debug"));
    await eventually(async () => expect(await isAccepted("two")).toBe(true));
    expect(await isAccepted("one")).toBe(false);
    expect(await manager.log()).toContainEqual(
      expect.objectContaining({
        message: "reloaded configuration file",
        changed: ["OPRC_CRM_SECURITY_TOKEN", "LOG_LEVEL"],
      }),
    );

    replace("enforcement: {freze: true}\n");
    await eventually(async () =>
      expect((await readHealth(manager)).warnings).toContainEqual(
        expect.stringMatching(
          /crm\.yaml:1:15: enforcement\.freze: is an unknown setting; did you mean enforcement\.freeze/,
        ),
      ),
    );
    expect(await isAccepted("two")).toBe(true);

    replace(`${settings(token("two"), "warn")}enforcement: {freeze: true}\nserver: {shutdownGrace: 1s}\n`);
    await eventually(async () =>
      expect((await readHealth(manager)).warnings).toContainEqual(
        expect.stringMatching(/need a restart: OPRC_CRM_SHUTDOWN_GRACE_SECS$/),
      ),
    );
    expect(await manager.stop()).toBe(0);
  }, 300_000);
});
