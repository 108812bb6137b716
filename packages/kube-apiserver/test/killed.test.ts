import { spawn, type ChildProcess } from "node:child_process";
import { request } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { makeRunFolder, sweepSize, type RunFolder } from "@oaas/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";

const PROGRAM = join(import.meta.dirname, "programs", "durable-server.ts");
const MAPS = "/api/v1/namespaces/default/configmaps";

interface Server {
  readonly child: ChildProcess;
  readonly url: string;
}

interface Listed {
  readonly metadata: { readonly resourceVersion: string };
  readonly items: readonly { readonly metadata: { readonly name: string; readonly resourceVersion: string } }[];
}

let folder: RunFolder;
beforeAll(async () => {
  folder = await makeRunFolder("killed-api-server");
});
afterAll(() => folder.remove());

async function started(file: string): Promise<Server> {
  const child = spawn(process.execPath, [PROGRAM, file], { stdio: ["pipe", "pipe", "inherit"] });
  const line = await createInterface({ input: child.stdout })[Symbol.asyncIterator]().next();
  if (line.done) throw new Error("the server exited before it listened");
  return { child, url: line.value };
}

/** The body of the response, or undefined when the connection broke. */
function send(url: string, method: string, path: string, body?: object): Promise<string | undefined> {
  return new Promise((resolve) => {
    const text = body === undefined ? "" : JSON.stringify(body);
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(text) };
    const call = request(url + path, { method, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", () => resolve(undefined));
      response.on("end", () => resolve(Buffer.concat(chunks).toString()));
    });
    call.on("error", () => resolve(undefined));
    call.end(text);
  });
}

test("keeps every acknowledged write when killed while writing, and versions never decrease", async () => {
  const file = join(folder.path, "objects.sqlite");
  const acknowledged = new Map<string, string | undefined>();
  let newest = 0;
  for (let restart = 1; restart <= sweepSize(4, 40); restart += 1) {
    const { child, url } = await started(file);
    const ended = new Promise((resolve) => child.once("close", resolve));
    const listed = JSON.parse((await send(url, "GET", MAPS)) ?? "") as Listed;
    const there = new Map(listed.items.map(({ metadata }) => [metadata.name, metadata.resourceVersion]));
    for (const [name, version] of acknowledged) {
      if (version === undefined) expect(there.has(name), `${name} was deleted before restart ${restart}`).toBe(false);
      else expect(Number(there.get(name)), `${name} before restart ${restart}`).toBeGreaterThanOrEqual(Number(version));
    }
    expect(Number(listed.metadata.resourceVersion), `the version at restart ${restart}`).toBeGreaterThanOrEqual(newest);
    await writeUntilKilled(url, restart, () => child.kill("SIGKILL"), acknowledged);
    await ended;
    newest = Math.max(newest, ...[...acknowledged.values()].map((version) => Number(version ?? 0)));
  }
  expect(acknowledged.size).toBeGreaterThan(50);
});

/** Writes several objects concurrently. The server is killed after this many responses, with others in flight. */
async function writeUntilKilled(
  url: string,
  restart: number,
  kill: () => void,
  acknowledged: Map<string, string | undefined>,
): Promise<void> {
  let answers = 0;
  const writer = async (lane: number): Promise<void> => {
    for (let turn = 0; ; turn += 1) {
      const name = `n-${restart}-${lane}-${turn}`;
      const made = await send(url, "POST", MAPS, { metadata: { name }, data: { x: "y".repeat(200) } });
      if (made === undefined) return;
      const { metadata } = JSON.parse(made) as { readonly metadata: { readonly resourceVersion: string } };
      acknowledged.set(name, metadata.resourceVersion);
      // Every third is deleted again; a deletion with a lost response may or may not have happened.
      if (turn % 3 === 2) {
        acknowledged.delete(name);
        if ((await send(url, "DELETE", `${MAPS}/${name}`)) === undefined) return;
        acknowledged.set(name, undefined);
      }
      answers += 1;
      if (answers === 40 + restart * 7) kill();
    }
  };
  await Promise.all(Array.from({ length: 8 }, (_, lane) => writer(lane)));
}
