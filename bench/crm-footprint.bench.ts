import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { makeRunFolder } from "@oaas/testkit";
import { bundle } from "../tools/tasks/bundle.ts";
import { startLab } from "./crm/lab.ts";
import type { Bench } from "./harness.ts";

const MOST_MIB = 160;
const START_MS = 120_000;
/** Idle time before the measurement. */
const REST_MS = 10_000;

interface Resident {
  readonly all: number;
  /** Without memory mapped from files, which processes share. */
  readonly own: number;
}

/** Memory of both managers while idle, as bundles. Linux only (`/proc`). */
export const bench: Bench = {
  name: "crm-footprint",
  async run(log) {
    await using lab = await startLab();
    const folder = await makeRunFolder("footprint");
    try {
      await bundle(["--out", folder.path]);
      const crm = await residentOf(
        path.join(folder.path, "class-runtime-manager.mjs"),
        {
          KUBECONFIG: lab.kubeconfig,
          HTTP_PORT: "0",
          OPRC_CRM_HTTP_HOST: "127.0.0.1",
          OPRC_CRM_K8S_NAMESPACE: "*",
        },
        '"class runtime manager ready"',
      );
      log(`class runtime manager: ${crm.all.toFixed(0)} MiB`);
      const pm = await residentOf(
        path.join(folder.path, "package-manager.mjs"),
        { SERVER_PORT: "0", SERVER_WORKERS: "1" },
        '"package manager listening"',
      );
      log(`package manager: ${pm.all.toFixed(0)} MiB`);
      const { all, own } = { all: crm.all + pm.all, own: crm.own + pm.own };
      return {
        title: "Idle package manager and class runtime manager, one bundled file each",
        measurements: [
          { name: "class runtime manager, resident", value: crm.all, unit: "MiB", note: "watches an empty cluster" },
          { name: "class runtime manager, private memory", value: crm.own, unit: "MiB", note: "without mapped files" },
          { name: "package manager, resident", value: pm.all, unit: "MiB", note: "in memory, one process" },
          { name: "package manager, private memory", value: pm.own, unit: "MiB", note: "without mapped files" },
          { name: "both, private memory", value: own, unit: "MiB" },
        ],
        ratios: [
          {
            name: "memory budget / both, resident",
            value: MOST_MIB / all,
            floor: 1,
            explains: `at most ${MOST_MIB} MiB; Node's own mapped files are counted twice`,
          },
        ],
      };
    } finally {
      await folder.remove();
    }
  },
};

/** Starts a program, waits until it is ready and idle, measures it, and stops it. */
async function residentOf(program: string, env: Readonly<Record<string, string>>, isReady: string): Promise<Resident> {
  const child = spawn(process.execPath, [program], {
    env: { PATH: process.env["PATH"] ?? "", ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  try {
    const ready = Promise.withResolvers<void>();
    createInterface({ input: child.stdout }).on("line", (line) => {
      if (line.includes(isReady)) ready.resolve();
    });
    const late = sleep(START_MS, undefined, { ref: false }).then(() => {
      throw new Error(`${path.basename(program)} is not ready`);
    });
    const died = ended.then(([code]) => {
      throw new Error(`${path.basename(program)} ended with ${code}`);
    });
    await Promise.race([ready.promise, late, died]);
    await sleep(REST_MS);
    const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
    const mib = (field: string): number =>
      Number(new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(status)?.[1] ?? Number.NaN) / 1024;
    return { all: mib("VmRSS"), own: mib("RssAnon") };
  } finally {
    child.kill("SIGTERM");
    await ended;
  }
}
