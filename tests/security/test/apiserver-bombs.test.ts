import path from "node:path";
import {
  makeRunFolder,
  startProcess,
  sweepSize,
  untilReady,
  type ProcessUnderTest,
  type RunFolder,
} from "@oaas/testkit";
import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { measureImpact, probeEnvironment, untilIdle } from "../src/attacked-process.ts";
import { textBombs, type Bomb } from "../src/bombs.ts";

const MAIN = path.resolve(import.meta.dirname, "../../../packages/kube-apiserver/src/main.ts");
const MIB = 1024 * 1024;
/** The work is linear. Kubernetes accepts 3 MiB, of which 170,000 unknown fields take about a second here. */
const BODY_BYTES = sweepSize(0.25 * MIB, 0.5 * MIB);
const LONGEST_TURN_MS = 250;
const MEMORY_BYTES = sweepSize(200, 600) * MIB;

const COLLECTION = "/api/v1/namespaces/default/configmaps";
const TARGETS = [
  { method: "POST", target: COLLECTION, type: undefined },
  { method: "PUT", target: `${COLLECTION}/x`, type: undefined },
  { method: "PATCH", target: `${COLLECTION}/x`, type: "application/merge-patch+json" },
  { method: "PATCH", target: `${COLLECTION}/x`, type: "application/json-patch+json" },
  { method: "PATCH", target: `${COLLECTION}/x`, type: "application/strategic-merge-patch+json" },
  { method: "PATCH", target: `${COLLECTION}/x?fieldManager=a`, type: "application/apply-patch+yaml" },
] as const;

describe("bodies that are expensive to read, sent to an embedded API server process", () => {
  let folder: RunFolder;
  let probeFile: string;
  let server: ProcessUnderTest;
  let url: string;
  beforeAll(async () => {
    folder = await makeRunFolder("security-apiserver");
    probeFile = path.join(folder.path, "turns");
    const logFile = path.join(folder.path, "log");
    server = await startProcess({
      name: "cluster",
      command: process.execPath,
      args: [MAIN, "--port=0", "--memory", `--data=${path.join(folder.path, "data")}`],
      cwd: folder.path,
      logFile,
      env: probeEnvironment(probeFile),
    });
    await untilReady(server, async () => {
      url = /cluster at (http:\S+)/.exec(await readFile(logFile, "utf8"))?.[1] ?? "";
      return url !== "";
    });
    await untilIdle(probeFile);
  });
  afterAll(async () => {
    await server?.stop();
    await folder?.remove();
  });

  const attack = async ({ type, body, headers }: Bomb): Promise<void> => {
    for (const each of TARGETS) {
      const health = fetch(`${url}/livez`);
      const response = await fetch(url + each.target, {
        method: each.method,
        headers: { "content-type": each.type ?? type, ...headers },
        body: new Uint8Array(body),
      });
      await response.arrayBuffer();
      expect(response.status, `${each.method} ${each.type ?? type}`).toBeLessThan(500);
      expect((await health).status).toBe(200);
    }
  };

  test.each(textBombs(BODY_BYTES))("$name", async (bomb) => {
    const { longestTurnMs, memoryBytes } = await measureImpact(server.pid, probeFile, () => attack(bomb));
    expect(memoryBytes).toBeLessThan(MEMORY_BYTES);
    expect(longestTurnMs).toBeLessThan(LONGEST_TURN_MS);
  });
});
