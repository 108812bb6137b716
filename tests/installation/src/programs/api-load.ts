/**
 * A steady load on the REST API of a package manager: writes, reads of what was written, lists, and reads that ask a class
 * runtime manager. Half of the workers keep their connection, the others open a new one for each request. It prints its
 * counts five times a second, like the load on functions.
 *
 * Settings: API_URL, API_TOKEN, DEPLOYMENT (to explain), and PAUSE_MS between the requests of a worker.
 */
import { Agent, request } from "node:http";
import process from "node:process";
import { setTimeout as pause } from "node:timers/promises";

const MAX_FAILURES = 200;
const { API_URL = "", API_TOKEN = "", DEPLOYMENT = "", PAUSE_MS = "100" } = process.env;

let ok = 0;
const failed: string[] = [];
const versions = new Set<string>();

interface Step {
  readonly name: string;
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly body?: object;
  /** Throws if the response is not what it must be. */
  readonly check?: (response: {
    readonly version?: string;
    readonly metadata?: { readonly description?: string };
  }) => void;
}

function stepsOf(worker: string, round: number): readonly Step[] {
  const name = `load-${worker}`;
  const description = `round ${round}`;
  return [
    {
      name: "write",
      method: "POST",
      path: round === 1 ? "/api/v1/packages" : `/api/v1/packages/${name}`,
      body: { name, version: "1.0.0", metadata: { description }, classes: [], functions: [] },
    },
    {
      name: "read",
      method: "GET",
      path: `/api/v1/packages/${name}`,
      check: ({ metadata }) => {
        if (metadata?.description !== description) throw new Error(`stale: ${metadata?.description}`);
      },
    },
    { name: "list", method: "GET", path: "/api/v1/packages" },
    { name: "explain", method: "GET", path: `/api/v1/deployments/${DEPLOYMENT}/explain` },
    { name: "health", method: "GET", path: "/health", check: ({ version = "" }) => void versions.add(version) },
  ];
}

function send({ method, path, body, check }: Step, agent: Agent | false): Promise<void> {
  return new Promise((resolve, reject) => {
    const content = body === undefined ? undefined : JSON.stringify(body);
    const sent = request(
      `${API_URL}${path}`,
      {
        method,
        agent,
        headers: {
          authorization: `Bearer ${API_TOKEN}`,
          ...(content === undefined ? {} : { "content-type": "application/json" }),
          ...(agent === false ? { connection: "close" } : {}),
        },
      },
      (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (part: string) => (text += part));
        response.on("error", reject);
        response.on("end", () => {
          try {
            if (response.statusCode !== 200 && response.statusCode !== 201)
              throw new Error(`${response.statusCode} ${text.slice(0, 300)}`);
            check?.(JSON.parse(text) as object);
            resolve();
          } catch (thrown) {
            reject(thrown);
          }
        });
      },
    );
    sent.setTimeout(10_000, () => sent.destroy(new Error("timeout")));
    sent.on("error", reject);
    sent.end(content);
  });
}

async function work(worker: string, agent: Agent | false): Promise<never> {
  for (let round = 1; ; round += 1) {
    for (const step of stepsOf(worker, round)) {
      try {
        await send(step, agent);
        ok += 1;
      } catch (thrown) {
        const { code, message } = thrown as NodeJS.ErrnoException;
        if (failed.length < MAX_FAILURES)
          failed.push(`${new Date().toISOString()} ${worker} ${step.name}: ${code ?? message}`);
      }
      await pause(Number(PAUSE_MS));
    }
  }
}

process.on("SIGTERM", () => process.exit(0));
for (const index of [1, 2]) {
  void work(`kept-${index}`, new Agent({ keepAlive: true, maxSockets: 1 }));
  void work(`new-${index}`, false);
}
setInterval(() => {
  console.log(JSON.stringify({ ok, failed, answers: [...versions].toSorted() }));
}, 200);
