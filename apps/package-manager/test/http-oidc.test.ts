import { generateKeyPairSync, sign } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { echoPackage, startPm, type Answer, type PmUnderTest } from "./running-pm.ts";

const keys = generateKeyPairSync("ec", { namedCurve: "P-256" });
let issuerServer: Server;
let issuer: string;
let pm: PmUnderTest;

/** A JWT of the issuer. */
function tokenOf(claims: object): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const exp = Math.floor(Date.now() / 1000) + 300;
  const text = `${part({ alg: "ES256", kid: "one" })}.${part({ iss: issuer, aud: "oaas", exp, ...claims })}`;
  const signature = sign("sha256", Buffer.from(text), { key: keys.privateKey, dsaEncoding: "ieee-p1363" });
  return `${text}.${signature.toString("base64url")}`;
}

function send(claims: object, method: string, path: string, body?: object, headers: object = {}): Promise<Answer> {
  const authorization = `Bearer ${tokenOf(claims)}`;
  return pm.call(method, path, { ...(body === undefined ? {} : { body }), headers: { authorization, ...headers } });
}

beforeAll(async () => {
  issuerServer = createServer((request, response) => {
    const isKeys = request.url === "/keys";
    const jwk = { ...keys.publicKey.export({ format: "jwk" }), kid: "one", use: "sig" };
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(isKeys ? { keys: [jwk] } : { jwks_uri: `${issuer}/keys` }));
  });
  await new Promise<void>((resolve) => issuerServer.listen(0, "127.0.0.1", resolve));
  issuer = `http://127.0.0.1:${(issuerServer.address() as AddressInfo).port}`;
  pm = await startPm({
    env: {
      SERVER_HOST: "127.0.0.1",
      OIDC_ISSUER: issuer,
      OIDC_AUDIENCE: "oaas",
      OIDC_ROLE_CLAIM: "groups",
      OIDC_ROLE_MAPPING: '{"developers":"deployer","everyone":"viewer"}',
      SERVER_RATE_LIMIT: "0.1",
      SERVER_RATE_BURST: "5",
    },
  });
});

afterAll(async () => {
  await pm.close();
  await new Promise((resolve) => issuerServer.close(resolve));
});

describe("callers with a JWT", () => {
  test("without a mapped group are refused, and the response names the claim", async () => {
    for (const claims of [{ sub: "none" }, { sub: "none", groups: ["admin"] }]) {
      const refused = await send(claims, "GET", "/api/v1/packages");
      expect(refused.status).toBe(403);
      expect(refused.json.error).toMatch(/the claim "groups"/);
    }
  });

  test("have their own idempotency keys and rate limit, whatever name they choose", async () => {
    const groups = ["developers"];
    const ann = { sub: "u1", preferred_username: "ann", groups };
    const impostor = { sub: "u2", preferred_username: "ann", groups };
    const keyed = { "idempotency-key": "k1" };
    const created = await send(ann, "POST", "/api/v1/packages", echoPackage("of-ann"), keyed);
    expect(created.status).toBe(201);
    const other = await send(impostor, "POST", "/api/v1/packages", echoPackage("of-other"), keyed);
    expect(other.json).toMatchObject({ id: "of-other", status: "created" });
    const revisions = await send(ann, "GET", "/api/v1/packages/of-other/revisions");
    expect(revisions.json[0].author).toBe("u2 (ann)");
    for (let index = 0; index < 3; index += 1) await send(ann, "GET", "/api/v1/packages");
    expect((await send(ann, "GET", "/api/v1/packages")).status).toBe(429);
    expect((await send(impostor, "GET", "/api/v1/packages")).status).toBe(200);
  });
});
