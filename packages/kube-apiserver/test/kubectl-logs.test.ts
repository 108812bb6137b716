import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { componentFile, describeWith, eventually, runCommand } from "@oaas/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startEmbedded, type EmbeddedCluster } from "../src/adapters/index.ts";

const SERVICE = "/api/v1/namespaces/default/services/web:80/proxy";

describeWith(["kubectl"], "kubectl on simulated containers", () => {
  let cluster: EmbeddedCluster;
  let folder: string;

  beforeAll(async () => {
    cluster = await startEmbedded({ simulation: { nodes: 1 } });
    folder = mkdtempSync(join(tmpdir(), "oaas-kubectl-logs-"));
    writeFileSync(join(folder, "kubeconfig"), cluster.kubeconfig);
    await kubectl("create deployment web --image=example.test/web:1 --port=8080 --replicas=2");
    await kubectl("expose deployment web --port=80 --target-port=8080");
    await kubectl("rollout status deployment/web --timeout=60s");
    await kubectl("wait --for=jsonpath={.subsets[0].addresses[1].ip} endpoints/web --timeout=60s");
  });
  afterAll(async () => {
    await cluster.close();
    rmSync(folder, { recursive: true });
  });

  const options = () => ({ cwd: folder, env: { KUBECONFIG: join(folder, "kubeconfig"), HOME: folder } });

  async function kubectl(line: string): Promise<string> {
    const { exitCode, stdout, stderr } = await runCommand(componentFile("kubectl"), line.split(" "), {
      timeoutMs: 120_000,
      ...options(),
    });
    if (exitCode !== 0) throw new Error(`kubectl ${line}: ${stderr}`);
    return stdout;
  }

  async function post(path: string, body: Buffer): Promise<{ readonly status: number; readonly text: string }> {
    return new Promise((resolve, reject) => {
      const sent = request(new URL(`${SERVICE}${path}`, cluster.url), { method: "POST", agent: false }, (response) => {
        let text = "";
        response.on("data", (chunk) => (text += String(chunk)));
        response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
      });
      sent.on("error", reject);
      sent.end(body);
    });
  }

  test("invokes a Service through its proxy", async () => {
    const answer = JSON.parse(await kubectl(`get --raw ${SERVICE}/greet?name=ann`)) as Record<string, unknown>;
    expect(answer).toMatchObject({ method: "GET", path: "/greet?name=ann", simulated: true });
    const { status, text } = await post("/greet", Buffer.from("hello"));
    expect(status).toBe(200);
    expect(JSON.parse(text)).toMatchObject({ method: "POST", body: "hello" });
  });

  test("shows and follows the output of containers", async () => {
    expect(await kubectl("logs deployment/web --all-pods --prefix")).toContain("simulated container started");
    const following = spawn(componentFile("kubectl"), ["logs", "-f", "-l", "app=web", "--tail=0"], options());
    const lines = createInterface({ input: following.stdout })[Symbol.asyncIterator]();
    try {
      // kubectl gives no sign that it follows: requests go on until it shows one.
      const seen = lines.next().then(({ value }) => value as string);
      await eventually(async () => {
        await post("/followed", Buffer.from(""));
        expect(await Promise.race([seen, Promise.resolve("")])).not.toBe("");
      });
      expect(await seen).toBe("POST /followed 200");
    } finally {
      following.kill();
    }
    expect(await kubectl("logs -l app=web --tail=1 --timestamps")).toMatch(/^\d{4}-[\d-]+T[\d:.]+Z /);
    await expect(kubectl("logs -l app=web --previous")).rejects.toThrow(/previous terminated container "web" in pod/);
    await expect(kubectl("logs none")).rejects.toThrow('pods "none" not found');
  });

  test("rejects a body above the limit, and survives 1,000 concurrent requests and clients that never read", async () => {
    expect((await post("/", Buffer.alloc(4 * 1024 * 1024))).status).toBe(413);
    const { port } = new URL(cluster.url);
    const pod = (await kubectl("get pods -l app=web -o jsonpath={.items[0].metadata.name}")).trim();
    const silent = Array.from({ length: 20 }, () => {
      const socket = connect(Number(port), "127.0.0.1").pause();
      socket.write(`GET /api/v1/namespaces/default/pods/${pod}/log?follow=true HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`);
      return socket;
    });
    try {
      const body = Buffer.alloc(2000, "x");
      const answers = await Promise.all(Array.from({ length: 1000 }, (_, index) => post(`/${index}`, body)));
      const statuses = new Set(answers.map(({ status }) => status));
      expect([...statuses].filter((status) => status !== 200 && status !== 429)).toEqual([]);
      expect(statuses).toContain(200);
      expect(await kubectl(`logs ${pod} --tail=1`)).toMatch(/^POST \/\d+ 200\n$/);
    } finally {
      for (const socket of silent) socket.destroy();
    }
  });
});
