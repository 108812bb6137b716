/** What a load pod has seen so far. */
export interface LoadReport {
  readonly ok: number;
  readonly failed: readonly string[];
  readonly answers: readonly string[];
}

/** Calls a URL without pause, each time on a new connection, and prints its counts five times a second. */
const PROGRAM = `
const http = require("node:http");
const [url, workers, payload] = process.argv.slice(1);
let ok = 0;
const failed = [], answers = new Set();
process.on("SIGTERM", () => process.exit(0));
const call = () => new Promise((done) => {
  const sent = http.request(url, { method: "POST", agent: false, headers: { connection: "close" } }, (response) => {
    let body = "";
    response.on("data", (part) => (body += part));
    response.on("error", (error) => (failed.push(error.code), done()));
    response.on("end", () => {
      if (response.statusCode === 200) (ok += 1, answers.add(body.slice(0, 40)));
      else failed.push(String(response.statusCode));
      done();
    });
  });
  sent.setTimeout(10_000, () => sent.destroy(new Error("timeout")));
  sent.on("error", (error) => (failed.push(error.code ?? error.message), done()));
  sent.end(payload);
});
const work = async () => { for (;;) { await call(); await new Promise((next) => setTimeout(next, 5)); } };
for (let index = 0; index < Number(workers); index += 1) void work();
setInterval(() => console.log(JSON.stringify({ ok, failed, answers: [...answers] })), 200);
`;

/** A pod that sends requests to a URL from within the cluster. */
export function loadPod(
  name: string,
  namespace: string,
  image: string,
  url: string,
  workers = 4,
  payload = "OaaS",
): object {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace },
    spec: {
      restartPolicy: "Never",
      terminationGracePeriodSeconds: 1,
      automountServiceAccountToken: false,
      containers: [
        {
          name: "load",
          image,
          imagePullPolicy: "IfNotPresent",
          command: ["/usr/bin/node", "-e", PROGRAM, url, String(workers), payload],
        },
      ],
    },
  };
}

/** The last report in the log of a load pod. */
export function readReport(log: string): LoadReport {
  const line = log.trimEnd().split("\n").at(-1) ?? "";
  return line.startsWith("{") ? (JSON.parse(line) as LoadReport) : { ok: 0, failed: [], answers: [] };
}
