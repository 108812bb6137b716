import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { request } from "node:http";
import path from "node:path";
import { makeRunFolder, type RunFolder } from "@oaas/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createRoutes, type RouteSources } from "../../../apps/dev-stack/src/http/routes.ts";
import { startStack, stopStack, type StackProcess } from "../../../apps/dev-stack/test/stack-process.ts";
import { runPm, type PmProcess } from "../../../apps/package-manager/test/pm-process.ts";
import {
  accessOfStatus,
  CREDENTIALS,
  expectedAccess,
  expectedStackAccess,
  METRICS_ROUTES,
  restOperations,
  STACK_CREDENTIALS,
  STACK_ROUTES,
  VERBS,
  type Credential,
  type StackCredential,
} from "../src/access-table.ts";
import { makeCredentials, type Credentials } from "../src/credentials.ts";
import { startIssuer, type Issuer } from "../src/issuer.ts";

type Headers = Readonly<Record<string, string>>;

/** Headers of a request that a foreign web page causes, with the response. */
const FOREIGN = [
  { headers: { host: "evil.example" }, status: 421 },
  { headers: { origin: "https://evil.example" }, status: 403 },
  { headers: { "sec-fetch-site": "cross-site" }, status: 403 },
];

/** Unlike fetch, it sends any header and any path. */
function plainStatus(url: string, method: string, target: string, headers: Headers): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, path: target, headers, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.on("error", reject).end();
  });
}

describe("access to the REST API of a package manager process", () => {
  let folder: RunFolder;
  let issuer: Issuer;
  let credentials: Credentials;
  let pm: PmProcess;
  beforeAll(async () => {
    folder = await makeRunFolder("security-rest");
    issuer = await startIssuer();
    credentials = await makeCredentials(folder.path, issuer);
    pm = await runPm({ folder: folder.path, env: { ...credentials.env, SERVER_HOST: "127.0.0.1", METRICS_PORT: "0" } });
  });
  afterAll(async () => {
    await pm?.stop();
    await issuer?.[Symbol.asyncDispose]();
    await folder?.remove();
  });

  /** Resolves with the status; does not read the body, because event streams do not end. */
  const statusOf = async (method: string, route: string, credential: Credential): Promise<number> => {
    const abort = new AbortController();
    const body = method === "POST" || method === "PUT" || method === "PATCH" ? "{}" : undefined;
    const headers = { ...credentials.headers(credential), "content-type": "application/json" };
    const target = pm.url + route.replaceAll(/\{\w+\}/g, "unknown");
    const response = await fetch(target, {
      method,
      headers,
      signal: abort.signal,
      ...(body === undefined ? {} : { body }),
    });
    abort.abort();
    return response.status;
  };

  test.each(CREDENTIALS)("credential %s: every operation answers as its role demands", async (credential) => {
    const operations = restOperations();
    const observed = await Promise.all(
      operations.map(async ({ id, method, path }) => [id, accessOfStatus(await statusOf(method, path, credential))]),
    );
    expect(Object.fromEntries(observed)).toEqual(
      Object.fromEntries(operations.map(({ id, role }) => [id, expectedAccess(role, credential)])),
    );
  });

  test.each(["none", "wrong", "expired"] as const)("credential %s: no other verb is served", async (credential) => {
    const operations = restOperations();
    const paths = [...new Set(operations.map(({ path }) => path))];
    for (const path of paths) {
      const offered = operations.filter((each) => each.path === path);
      if (offered.some(({ role }) => role === "public")) continue;
      const statuses = await Promise.all(VERBS.map((verb) => statusOf(verb, path, credential)));
      // 405 names the verbs of the path and reveals nothing else.
      expect(new Set([...statuses, 401]), path).toEqual(statuses.includes(405) ? new Set([401, 405]) : new Set([401]));
    }
  });

  describe("on its metrics port", () => {
    let port: number;
    beforeAll(async () => {
      const listening = (await pm.log()).find(({ message }) => message === "package manager listening");
      port = Number(listening?.["metrics_port"]);
    });

    test.each(CREDENTIALS)("credential %s: serves the metrics and nothing else", async (credential) => {
      const paths = [...new Set([...METRICS_ROUTES, ...restOperations()].map((route) => route.path))];
      for (const target of paths) {
        for (const verb of VERBS) {
          const isOffered = METRICS_ROUTES.some((route) => route.path === target && route.verbs.includes(verb));
          const status = await plainStatus(`http://127.0.0.1:${port}`, verb, target, credentials.headers(credential));
          expect(status, `${verb} ${target}`).toBe(isOffered ? 200 : 404);
        }
      }
    });

    test("rejects web pages and other addresses, with a valid credential too", async () => {
      const admin = credentials.headers("admin");
      for (const { headers, status } of FOREIGN)
        expect(await plainStatus(`http://127.0.0.1:${port}`, "GET", "/metrics", { ...admin, ...headers })).toBe(status);
      await expect(plainStatus(`http://127.0.0.2:${port}`, "GET", "/metrics", admin)).rejects.toThrow("ECONNREFUSED");
    });
  });

  test("the requests changed nothing", async () => {
    const list = await pm.call("GET", "/api/v1/packages", { headers: { ...credentials.headers("viewer") } });
    expect(list.json).toEqual([]);
    const clusters = await pm.call("GET", "/api/v1/clusters", { headers: { ...credentials.headers("viewer") } });
    expect(clusters.json).toEqual([]);
  });
});

describe("access to the status page of a local stack process", () => {
  let folder: RunFolder;
  let stack: StackProcess;
  let headersOf: Readonly<Record<StackCredential, Headers>>;
  beforeAll(async () => {
    folder = await makeRunFolder("security-stack");
    const data = path.join(folder.path, "data");
    stack = await startStack(data, ["--no-cluster"]);
    const { secret } = JSON.parse(await readFile(path.join(data, "stack.json"), "utf8")) as { readonly secret: string };
    headersOf = {
      none: {},
      wrong: { authorization: "Bearer not-the-secret" },
      secret: { authorization: `Bearer ${secret}` },
    };
  });
  afterAll(async () => {
    if (stack !== undefined) await stopStack(stack, "SIGTERM");
    await folder?.remove();
  });

  /** Other paths than that which ends the stack. */
  const LASTING = STACK_ROUTES.filter((route) => route.path !== "/control/stop");

  test("the table has every path of the page", () => {
    // Only the paths are read: no route is called.
    const served = createRoutes({ control: {} } as RouteSources).map((route) => route.path);
    expect(STACK_ROUTES.map((route) => route.path).toSorted()).toEqual(served.toSorted());
  });

  test.each(STACK_CREDENTIALS)("credential %s: every verb of every path answers as required", async (credential) => {
    for (const route of credential === "secret" ? LASTING : STACK_ROUTES) {
      for (const verb of VERBS) {
        const status = await plainStatus(stack.page_url, verb, route.path, headersOf[credential]);
        if (route.verbs.includes(verb))
          expect(accessOfStatus(status), `${verb} ${route.path}`).toBe(expectedStackAccess(route, credential));
        else expect(status, `${verb} ${route.path}`).toBe(405);
      }
    }
    for (const target of ["/control", "/control/", "/control/break/", "//control/stop", "/../control/stop", "/api/v1"])
      expect(await plainStatus(stack.page_url, "POST", target, headersOf[credential]), target).toBe(404);
  });

  test("rejects web pages and other addresses, with the secret too", async () => {
    for (const { headers, status } of FOREIGN) {
      for (const { verbs, path: target } of STACK_ROUTES) {
        const sent = { ...headersOf.secret, ...headers };
        expect(await plainStatus(stack.page_url, verbs[0] ?? "", target, sent), target).toBe(status);
      }
    }
    const elsewhere = stack.page_url.replace("127.0.0.1", "127.0.0.2");
    await expect(plainStatus(elsewhere, "GET", "/health", headersOf.secret)).rejects.toThrow("ECONNREFUSED");
  });

  test("the requests injected no fault; the secret stops the stack", async () => {
    const health = (await (await fetch(`${stack.page_url}/health`)).json()) as { readonly broken: readonly unknown[] };
    expect(health.broken).toEqual([]);
    expect(await plainStatus(stack.page_url, "POST", "/control/stop", headersOf.secret)).toBe(202);
    if (stack.child.exitCode === null) await once(stack.child, "exit");
    expect(stack.child.exitCode).toBe(0);
  });
});
