import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import {
  componentFile,
  describeWith,
  eventually,
  freePorts,
  makeRunFolder,
  probe,
  runCommand,
  startKubeTarget,
  startProcess,
  untilReady,
} from "@oaas/testkit";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { ROOT } from "../../../tools/tasks/root.ts";
import { readCompose } from "../src/files.ts";

const COMPOSE = path.join(ROOT, "deploy", "compose", "compose.yaml");
const MANAGERS = ["package-manager", "class-runtime-manager"] as const;

describeWith(["compose-schema"], "the Compose file", () => {
  const schema = JSON.parse(readFileSync(componentFile("compose-schema"), "utf8")) as object;
  const validate = new Ajv2020({ strict: false, validateFormats: false, allErrors: true }).compile(schema);

  it("is valid by the schema of the Compose specification", () => {
    expect(validate(parse(readFileSync(COMPOSE, "utf8"), { merge: true })), JSON.stringify(validate.errors)).toBe(true);
  });

  it("would be rejected with a misspelt property", () => {
    const { services, ...rest } = parse(readFileSync(COMPOSE, "utf8"), { merge: true }) as {
      services: Record<string, object>;
    };
    const wrong = { ...services, "package-manager": { ...services["package-manager"], readonly: true } };
    expect(validate({ ...rest, services: wrong })).toBe(false);
  });
});

describeWith(["kubernetes"], "the settings of the Compose file", () => {
  it("connect the package manager with the class runtime manager of a cluster", async () => {
    const folder = await makeRunFolder("compose");
    await using cluster = await startKubeTarget({ kwokNodes: 1 }, "embedded");
    await cluster.kubectl(["apply", "--server-side", "-f", path.join(ROOT, "deploy", "crds")]);
    const [pmPort = 0, crmPort = 0] = await freePorts(2);
    const secret = (name: string): string => path.join(folder.path, name);
    writeFileSync(secret("kubeconfig"), readFileSync(cluster.kubeconfig));
    writeFileSync(secret("cluster-token"), "token-of-the-cluster");
    writeFileSync(
      secret("package-manager-tokens"),
      `ana:admin:${createHash("sha256").update("token-of-ana").digest("hex")}\n`,
    );
    const { services } = readCompose();
    /** What differs between a container and this machine: paths, names and ports. */
    const onThisMachine = (value: string): string =>
      value
        .replaceAll("/run/secrets/", `${folder.path}/`)
        .replaceAll("/var/lib/oaas/", `${folder.path}/`)
        .replaceAll("class-runtime-manager:8088", `127.0.0.1:${crmPort}`)
        .replace(/^8080$/, String(pmPort))
        .replace(/^8088$/, String(crmPort));
    const start = (app: (typeof MANAGERS)[number], more: Readonly<Record<string, string>>) =>
      startProcess({
        name: app,
        command: process.execPath,
        args: [path.join(ROOT, "apps", app, "src", "main.ts")],
        cwd: folder.path,
        logFile: path.join(folder.path, `${app}.log`),
        env: {
          ...Object.fromEntries(
            Object.entries(services[app]?.environment ?? {}).map(([name, value]) => [name, onThisMachine(value)]),
          ),
          ...more,
        },
      });
    const crm = await start("class-runtime-manager", { OPRC_CRM_HTTP_HOST: "127.0.0.1" });
    const pm = await start("package-manager", { SERVER_HOST: "127.0.0.1" });
    const address = `http://127.0.0.1:${pmPort}`;
    await untilReady(pm, async () => (await probe(`${address}/readyz`)).status === 200);
    await untilReady(crm, async () => (await probe(`http://127.0.0.1:${crmPort}/readyz`)).status === 200);
    expect((await probe(`${address}/api/v1/clusters`)).status).toBe(401);
    await eventually(
      async () => {
        const response = await fetch(`${address}/api/v1/clusters/local/health`, {
          headers: { authorization: "Bearer token-of-ana" },
        });
        expect(await response.json()).toMatchObject({ status: "Healthy" });
      },
      { timeoutMs: 120_000 },
    );
    await Promise.all([pm.stop(60_000), crm.stop(60_000)]);
    expect(readFileSync(path.join(folder.path, "oaas-pm.db")).subarray(0, 6).toString()).toBe("SQLite");
    await folder.remove();
  });
});

describeWith(["systemd-analyze"], "the systemd units", () => {
  describe.each(MANAGERS)("of the %s", (name) => {
    const file = `oaas-${name}.service`;
    const installed = path.join(ROOT, "deploy", "systemd", file);

    it("are valid, and a misspelt setting would be reported", async () => {
      const folder = await makeRunFolder("systemd");
      // The program must exist on this machine.
      const unit = readFileSync(installed, "utf8").replace("/usr/bin/node", process.execPath);
      const verify = async (text: string) => {
        writeFileSync(path.join(folder.path, file), text);
        return runCommand("systemd-analyze", ["verify", "--man=no", path.join(folder.path, file)]);
      };
      expect(await verify(unit)).toMatchObject({ exitCode: 0, stderr: "" });
      const { stderr } = await verify(unit.replace("PrivateTmp", "PrivateTemp"));
      expect(stderr).toMatch(/Unknown key (name )?'PrivateTemp'/);
      await folder.remove();
    });

    it("have an exposure that systemd calls OK", async () => {
      const { stdout, exitCode } = await runCommand("systemd-analyze", [
        "security",
        "--offline=true",
        "--threshold=20",
        installed,
      ]);
      expect(stdout).toMatch(/Overall exposure level for oaas-[\w-]+\.service: \d\.\d OK/);
      expect(exitCode).toBe(0);
    });
  });
});
