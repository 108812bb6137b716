import { spawn } from "node:child_process";
import { appendFile, mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeWith, eventually } from "@oaas/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { canBind, freePorts, startCluster } from "../src/index.ts";
import { processIdentity } from "../src/process/warden/register.ts";
import { endRegistered, register } from "../src/process/warden/register.ts";

let folder: string;
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), "oaas-cluster-"))));
afterAll(() => rm(folder, { recursive: true, force: true }));

describe("the register of processes", () => {
  it("stops running processes and spares processes that reuse an id", async () => {
    const file = join(folder, "register");
    const sleepers = [0, 1].map(() => spawn("sleep", ["60"], { detached: true, stdio: "ignore" }));
    const [ours = 0, stranger = 0] = sleepers.map(({ pid }) => pid);
    try {
      register(file, ours);
      await appendFile(file, `${stranger} ${processIdentity(process.pid)}\nnonsense\n1 x\n`);
      expect(await endRegistered(file)).toBe(1);
      expect(processIdentity(ours)).toBeUndefined();
      expect(processIdentity(stranger)).toBeDefined();
      expect(await endRegistered(file)).toBe(0);
    } finally {
      for (const sleeper of sleepers) sleeper.kill("SIGKILL");
    }
  });
});

describeWith(["kubernetes", "etcd"], "a cluster in a folder", () => {
  it("keeps data, port and token after a crash, and the next start stops leftover processes", async () => {
    const options = { name: "here", folder: join(folder, "again"), fsync: true };
    const first = await startCluster(options);
    const made = await first.kubectl(["create", "configmap", "kept", "--from-literal=a=b"]);
    expect(made).toMatchObject({ exitCode: 0 });
    const second = await startCluster(options);
    try {
      expect(first.processes.map(({ pid }) => processIdentity(pid))).toEqual([undefined, undefined]);
      expect({ url: second.url, token: second.token }).toEqual({ url: first.url, token: first.token });
      const found = await second.kubectl(["get", "configmap", "kept", "-o", "jsonpath={.data.a}"]);
      expect(found.stdout).toBe("b");
      expect(await readFile(join(options.folder, "kube-apiserver.log.previous"), "utf8")).not.toBe("");
    } finally {
      await second.stop(10_000);
    }
    expect(second.processes.map(({ exit }) => exit?.signal ?? exit?.code)).toEqual([expect.anything(), 0]);
    await eventually(() => canBind(Number(new URL(second.url).port)), { what: "the port to be free" });
  });

  it("rejects a port in use and leaves nothing running", async () => {
    const [port = 0] = await freePorts(1);
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(port, "127.0.0.1", resolve));
    const options = { name: "here", folder: join(folder, "taken"), fsync: false, port };
    await expect(startCluster(options)).rejects.toThrow(`127.0.0.1:${port}`);
    other.close();
    const noted = (await readFile(join(options.folder, "processes"), "utf8")).trim().split("\n");
    expect(noted.map((line) => processIdentity(Number(line.split(" ")[0])))).toEqual([undefined]);
  });
});
