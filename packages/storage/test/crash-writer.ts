/**
 * The process that is killed. Writes pairs of keys, one transaction each, from several concurrent callers, and prints
 * the number of each pair when it is acknowledged.
 */
import { writeSync } from "node:fs";
import { argv, stdout } from "node:process";
import { realAmbient } from "@oaas/foundation/real";
import { openEtcdStore } from "@oaas/storage/etcd";
import { openSqliteStore } from "@oaas/storage/sqlite";

const [, , backend, place = "", first = "0"] = argv;
const store =
  backend === "sqlite"
    ? openSqliteStore({ ambient: realAmbient, file: place })
    : openEtcdStore({ ambient: realAmbient, endpoints: place.split(","), keyPrefix: "/oaas/crash/" });

let next = Number(first);
await store.revision();
await printLine("ready");

/** Writes a line synchronously and waits for a full pipe, so that no acknowledgement is lost. */
async function printLine(line: string): Promise<void> {
  for (;;) {
    try {
      writeSync(stdout.fd, `${line}\n`);
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
      await new Promise((resolve) => void setTimeout(resolve, 1));
    }
  }
}

async function write(): Promise<never> {
  for (;;) {
    const n = next;
    next += 1;
    const value = `${n}:${"x".repeat(n % 700)}`;
    await store.commit({
      conditions: [{ key: `a/${n}`, test: "absent" }],
      writes: [
        { op: "put", key: `a/${n}`, value },
        { op: "put", key: `b/${n}`, value },
      ],
    });
    await printLine(String(n));
  }
}

await Promise.all(Array.from({ length: 4 }, write));
