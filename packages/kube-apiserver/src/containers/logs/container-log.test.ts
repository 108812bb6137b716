import { expect, test } from "vitest";
import { ContainerLog } from "./container-log.ts";

const signal = new AbortController().signal;
const ALL = { container: "", follow: false, previous: false, timestamps: false };

async function readAll(log: ContainerLog, options: Partial<typeof ALL & { tailLines: number }> = {}): Promise<string> {
  let text = "";
  for await (const chunk of log.read({ ...ALL, ...options }, signal)) text += chunk;
  return text;
}

test("keeps the newest lines within the limits", async () => {
  const log = new ContainerLog();
  for (let index = 0; index < 5000; index += 1) log.append(index, `line ${index}`);
  const lines = (await readAll(log)).trimEnd().split("\n");
  expect(lines).toHaveLength(1000);
  expect(lines.at(-1)).toBe("line 4999");
  for (let index = 0; index < 100; index += 1) log.append(0, "x".repeat(10_000));
  expect(Buffer.byteLength(await readAll(log))).toBeLessThanOrEqual(256 * 1024);
});

test("splits a long line, and output with several lines", async () => {
  const log = new ContainerLog();
  log.append(0, `a\r\nb\n${"x".repeat(20_000)}\n`);
  expect((await readAll(log)).split("\n").map(({ length }) => length)).toEqual([1, 1, 16_384, 3616, 0]);
});

test("a follower that does not read skips what the ring dropped", async () => {
  const log = new ContainerLog();
  log.append(0, "first");
  const reader = log.read({ ...ALL, follow: true }, signal);
  expect((await reader.next()).value).toBe("first\n");
  for (let index = 0; index < 3000; index += 1) log.append(index, `line ${index}`);
  log.end();
  const rest = ((await reader.next()).value as string).trimEnd().split("\n");
  expect(rest).toHaveLength(1000);
  expect(rest.at(-1)).toBe("line 2999");
  expect(await reader.next()).toEqual({ done: true, value: undefined });
});

test("a limit in bytes never cuts a character", async () => {
  const log = new ContainerLog();
  log.append(0, "aé€");
  let text = "";
  for await (const chunk of log.read({ ...ALL, limitBytes: 2 }, signal)) text += chunk;
  expect(text).toBe("a");
});
