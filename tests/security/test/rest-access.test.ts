import { makeRunFolder, type RunFolder } from "@oaas/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runPm, type PmProcess } from "../../../apps/package-manager/test/pm-process.ts";
import { accessOfStatus, CREDENTIALS, expectedAccess, restOperations, type Credential } from "../src/access-table.ts";
import { makeCredentials, type Credentials } from "../src/credentials.ts";
import { startIssuer, type Issuer } from "../src/issuer.ts";

const VERBS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

describe("access to the REST API of a package manager process", () => {
  let folder: RunFolder;
  let issuer: Issuer;
  let credentials: Credentials;
  let pm: PmProcess;
  beforeAll(async () => {
    folder = await makeRunFolder("security-rest");
    issuer = await startIssuer();
    credentials = await makeCredentials(folder.path, issuer);
    pm = await runPm({ folder: folder.path, env: { ...credentials.env, SERVER_HOST: "127.0.0.1" } });
  });
  afterAll(async () => {
    await pm?.stop();
    await issuer?.[Symbol.asyncDispose]();
    await folder?.remove();
  });

  /** Resolves with the status; does not read the body, because event streams do not end. */
  const statusOf = async (method: string, path: string, credential: Credential): Promise<number> => {
    const abort = new AbortController();
    const body = method === "POST" || method === "PUT" || method === "PATCH" ? "{}" : undefined;
    const headers = { ...credentials.headers(credential), "content-type": "application/json" };
    const target = pm.url + path.replaceAll(/\{\w+\}/g, "unknown");
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

  test("the requests changed nothing", async () => {
    const list = await pm.call("GET", "/api/v1/packages", { headers: { ...credentials.headers("viewer") } });
    expect(list.json).toEqual([]);
    const clusters = await pm.call("GET", "/api/v1/clusters", { headers: { ...credentials.headers("viewer") } });
    expect(clusters.json).toEqual([]);
  });
});
