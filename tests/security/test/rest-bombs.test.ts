import path from "node:path";
import { allRoutes } from "@oaas/contracts/rest";
import { makeRunFolder, sweepSize, type RunFolder } from "@oaas/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runPm, type PmProcess } from "../../../apps/package-manager/test/pm-process.ts";
import { measureImpact, probeEnvironment, untilIdle, type Impact } from "../src/attacked-process.ts";
import { textBombs, type Bomb } from "../src/bombs.ts";

const MIB = 1024 * 1024;
/** In the sweep the largest bomb is just below the limit of a body; in npm test quadratic work is noticed. */
const BODY_BYTES = sweepSize(0.25 * MIB, 6 * MIB);
const LONGEST_TURN_MS = 250;
const MEMORY_BYTES = sweepSize(200, 600) * MIB;

const PATHS = [...new Set(allRoutes().flatMap(({ method, path: at, body }) => (body ? [`${method} ${at}`] : [])))];

describe("bodies that are expensive to read, sent to a package manager process", () => {
  let folder: RunFolder;
  let probeFile: string;
  let pm: PmProcess;
  beforeAll(async () => {
    folder = await makeRunFolder("security-bombs");
    probeFile = path.join(folder.path, "turns");
    pm = await runPm({ folder: folder.path, env: probeEnvironment(probeFile) });
    await untilIdle(probeFile);
  });
  afterAll(async () => {
    await pm?.stop();
    await folder?.remove();
  });

  const send = async (target: string, { type, body, headers }: Bomb): Promise<number> => {
    const [method = "", at = ""] = target.split(" ");
    const response = await fetch(pm.url + at.replaceAll(/\{\w+\}/g, "x"), {
      method,
      headers: { "content-type": type, ...headers },
      body: new Uint8Array(body),
    });
    await response.arrayBuffer();
    return response.status;
  };
  const attack = (bomb: Bomb): Promise<Impact> =>
    measureImpact(pm.process.pid, probeFile, async () => {
      for (const target of PATHS) {
        const health = fetch(`${pm.url}/health`);
        expect(await send(target, bomb), `${bomb.name}: ${target}`).toBeLessThan(500);
        expect((await health).status).toBe(200);
      }
    });

  test.each(textBombs(BODY_BYTES))("$name", async (bomb) => {
    const { longestTurnMs, memoryBytes } = await attack(bomb);
    expect(memoryBytes).toBeLessThan(MEMORY_BYTES);
    expect(longestTurnMs).toBeLessThan(LONGEST_TURN_MS);
  });
});
