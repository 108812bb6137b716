import { createHash, generateKeyPairSync, sign, type KeyObject } from "node:crypto";
import { VirtualTime } from "@oaas/foundation/virtual";
import { beforeEach, describe, expect, test } from "vitest";
import {
  acceptEveryCaller,
  bearerAuthenticator,
  certificateAuthenticator,
  type SentCredentials,
} from "./authenticator.ts";
import { assertReporter, assertRole, callerId, callerLabel } from "./caller.ts";
import { DEFAULT_ROLE_MAPPING, OidcCallers, type OidcOptions } from "./oidc.ts";
import { RateLimiter } from "./limits/rate-limit.ts";
import { readTokens } from "./token-file.ts";

const hashOf = (token: string): string => createHash("sha256").update(token).digest("hex");

describe("a token file", () => {
  test("names callers by the hash of their token; comments and empty lines say nothing", () => {
    const read = readTokens(
      `# ours\n\nann:admin:${hashOf("s3cret")}\n ci : deployer : ${hashOf("other").toUpperCase()}\n`,
    );
    if (!read.ok) throw new Error("refused");
    expect(read.value.size).toBe(2);
    expect(read.value.callerOf("s3cret")).toEqual({ name: "ann", role: "admin" });
    expect(read.value.callerOf("other")).toEqual({ name: "ci", role: "deployer" });
    expect(read.value.callerOf("nonsense")).toBeUndefined();
  });

  test.each([
    { why: "no role", line: "ann", message: "is not name:role:hash" },
    { why: "an unknown role", line: `ann:root:${hashOf("x")}`, message: '"root" is not a role' },
    { why: "a reporter of no cluster", line: `crm:reporter:${hashOf("x")}`, message: '"reporter" is not a role' },
    {
      why: "a reporter of an invalid cluster",
      line: `crm:reporter@A b:${hashOf("x")}`,
      message: '"reporter@A b" is not a role',
    },
    { why: "the role public", line: `ann:public:${hashOf("x")}`, message: '"public" is not a role' },
    { why: "the token itself", line: "ann:admin:s3cret", message: "is not a SHA-256 digest" },
    { why: "more parts", line: `ann:admin:${hashOf("x")}:y`, message: "is not name:role:hash" },
    {
      why: "a token twice",
      line: `bob:viewer:${hashOf("s3cret").toUpperCase()}`,
      message: "repeats the token of an earlier line",
    },
  ])("rejects $why and names the line", ({ line, message }) => {
    expect(readTokens(`ann:admin:${hashOf("s3cret")}\n${line}`)).toMatchObject({
      ok: false,
      error: [{ path: "line 2", message }],
    });
  });
});

describe("reporters", () => {
  const tokens = readTokens(`east-crm:reporter@east:${hashOf("s3cret")}`);
  const crm = tokens.ok ? tokens.value.callerOf("s3cret") : undefined;

  test("report for the cluster of their token, and have no other right", () => {
    if (crm === undefined) throw new Error("no caller");
    assertReporter(crm, "east", "reportDeploymentStatus");
    expect(() => assertReporter(crm, "west", "reportDeploymentStatus")).toThrow(
      'east-crm may not report for cluster "west"; reportDeploymentStatus needs a token of the role reporter@west',
    );
    expect(() => assertRole(crm, "viewer", "listPackages")).toThrow(
      'east-crm has no role, because it only reports for cluster "east"; listPackages needs the role viewer',
    );
  });

  test.each(["viewer", "deployer", "admin"] as const)("a %s is not a reporter", (role) => {
    expect(() => assertReporter({ name: "ann", role }, "east", "reportRuntimeMetrics")).toThrow(/reporter@east/);
  });

  test("every caller reports without authentication", async () => {
    const sent = { authorization: undefined, address: "127.0.0.1", certificate: () => undefined };
    assertReporter(await acceptEveryCaller()(sent), "east", "reportRuntimeMetrics");
  });
});

describe("roles", () => {
  test("include the rights of the roles before them", () => {
    assertRole({ name: "ann", role: "admin" }, "deployer", "createDeployment");
    assertRole({ name: "ann", role: "viewer" }, "viewer", "listPackages");
    expect(() => assertRole({ name: "bob", role: "viewer" }, "deployer", "createDeployment")).toThrow(
      expect.objectContaining({ kind: "permission-denied", message: expect.stringContaining("deployer") }),
    );
  });
});

describe("a rate limit", () => {
  test("allows a burst, then a rate, for each caller separately", async () => {
    const time = new VirtualTime(0);
    const limiter = new RateLimiter({ perSecond: 2, burst: 3 }, time);
    for (let index = 0; index < 3; index += 1) limiter.admit("ann");
    expect(() => limiter.admit("ann")).toThrow(
      expect.objectContaining({ detail: expect.objectContaining({ retryAfterMs: 500 }) }),
    );
    limiter.admit("bob");
    await time.advance(500);
    limiter.admit("ann");
    expect(() => limiter.admit("ann")).toThrow();
    await time.advance(60_000);
    for (let index = 0; index < 3; index += 1) limiter.admit("ann");
    expect(() => limiter.admit("ann"), "the bucket holds no more than the burst").toThrow();
  });

  test("forgets the caller that was idle longest when the table is full, never a throttled one", async () => {
    const time = new VirtualTime(0);
    const limiter = new RateLimiter({ perSecond: 0.1, burst: 2, maxCallers: 3 }, time);
    const isThrottled = (caller: string): boolean => {
      try {
        limiter.admit(caller);
        return false;
      } catch {
        return true;
      }
    };
    for (const caller of ["attacker", "attacker", "idle", "busy", "busy"]) limiter.admit(caller);
    expect(isThrottled("attacker")).toBe(true);
    limiter.admit("idle");
    for (const caller of ["new-1", "new-2", "new-3"]) expect(isThrottled(caller), caller).toBe(true);
    expect(isThrottled("attacker"), "new callers do not reset a throttled one").toBe(true);
    await time.advance(10_000);
    limiter.admit("busy");
    expect(isThrottled("new-4"), "takes the place of the caller that was idle longest").toBe(false);
    expect(isThrottled("busy"), "is still known").toBe(true);
    limiter.admit("attacker");
    expect(isThrottled("attacker"), "is still known, without a new burst").toBe(true);
  });
});

describe("JWTs of an issuer", () => {
  const NOW = Date.UTC(2026, 0, 1);
  const issuer = "https://id.example";
  let time: VirtualTime;
  let served: { keys: unknown[] };
  let fetched: string[];
  let oidc: OidcCallers;
  let first: { readonly publicKey: KeyObject; readonly privateKey: KeyObject };

  const jwkOf = (key: KeyObject, kid: string): object => ({ ...key.export({ format: "jwk" }), kid, use: "sig" });
  const signed = (key: KeyObject, claims: object, header: object = { alg: "ES256", kid: "one" }): string => {
    const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
    const text = `${part(header)}.${part(claims)}`;
    return `${text}.${sign("sha256", Buffer.from(text), { key, dsaEncoding: "ieee-p1363" }).toString("base64url")}`;
  };
  const claims = (more: object = {}): object => ({
    iss: issuer,
    aud: ["oaas", "other"],
    sub: "u1",
    exp: NOW / 1000 + 300,
    oaas_role: ["viewer", "deployer"],
    ...more,
  });

  beforeEach(() => {
    time = new VirtualTime(NOW);
    first = generateKeyPairSync("ec", { namedCurve: "P-256" });
    served = { keys: [jwkOf(first.publicKey, "one")] };
    fetched = [];
    oidc = new OidcCallers(options());
  });

  const options = (): OidcOptions => ({
    issuer,
    audience: "oaas",
    roleClaim: "oaas_role",
    roleMapping: DEFAULT_ROLE_MAPPING,
    clock: time,
    fetchJson: async (url) => {
      fetched.push(url);
      return url.endsWith("openid-configuration") ? { jwks_uri: `${issuer}/keys` } : served;
    },
  });

  const identity = (subject: string): object => ({ oidc: { issuer, subject }, expiresAtMs: NOW + 300_000 });

  test("are accepted with a valid signature, issuer, audience and time; the highest role counts", async () => {
    expect(await oidc.callerOf(signed(first.privateKey, claims()))).toEqual({
      name: "u1",
      role: "deployer",
      ...identity("u1"),
    });
    expect(fetched, "the keys are fetched once").toHaveLength(2);
  });

  test("identify the caller by issuer and subject; a name that the user can choose is shown only", async () => {
    const callerOf = (more: object) => oidc.callerOf(signed(first.privateKey, claims(more)));
    const ann = await callerOf({ preferred_username: "ann" });
    const impostor = await callerOf({ sub: "u2", preferred_username: "ann" });
    expect(ann).toEqual({ name: "ann", role: "deployer", ...identity("u1") });
    expect([callerId(ann), callerId(impostor)]).toEqual([`${issuer}#u1`, `${issuer}#u2`]);
    expect([callerLabel(ann), callerLabel(impostor)]).toEqual(["u1 (ann)", "u2 (ann)"]);
    expect((await callerOf({ email: "ann@id.example" })).name).toBe("ann@id.example");
    expect((await callerOf({ preferred_username: "a\u001b[2Jnn\u202e" + "x".repeat(200) })).name).toBe(
      `a[2Jnn${"x".repeat(122)}`,
    );
  });

  test.each([
    { why: "no role claim", more: { oaas_role: undefined }, message: 'the claim "oaas_role" of the JWT is missing' },
    { why: "an unknown role", more: { oaas_role: "root" }, message: 'no value of the claim "oaas_role"' },
    { why: "the role public", more: { oaas_role: "public" }, message: 'no value of the claim "oaas_role"' },
  ])("get no role with $why, and the refusal names the claim", async ({ more, message }) => {
    const caller = await oidc.callerOf(signed(first.privateKey, claims(more)));
    expect(caller).toMatchObject({ role: "public", ...identity("u1") });
    expect(() => assertRole(caller, "viewer", "listPackages")).toThrow(
      expect.objectContaining({ kind: "permission-denied", message: expect.stringContaining(message) }),
    );
  });

  test("get the roles that groups are mapped to; unmapped values give none, also those named like a role", async () => {
    const mapped = new OidcCallers({
      ...options(),
      roleClaim: "realm.groups",
      roleMapping: { "platform-admins": "admin", everyone: "viewer" },
    });
    const roleOf = async (groups: unknown) =>
      (await mapped.callerOf(signed(first.privateKey, claims({ realm: { groups } })))).role;
    expect(await roleOf(["everyone", "platform-admins"])).toBe("admin");
    expect(await roleOf("everyone")).toBe("viewer");
    for (const groups of [["admin"], "constructor", { everyone: true }, [["everyone"]], undefined, 5])
      expect(await roleOf(groups)).toBe("public");
  });

  test.each([
    { why: "another issuer", more: { iss: "https://evil.example" } },
    { why: "another audience", more: { aud: "other" } },
    { why: "expired", more: { exp: NOW / 1000 - 61 } },
    { why: "without an end", more: { exp: undefined } },
    { why: "without a subject", more: { sub: undefined } },
    { why: "an empty subject", more: { sub: "" } },
    { why: "a subject that is not printable ASCII", more: { sub: "u1\n" } },
    { why: "a subject of more than 255 characters", more: { sub: "u".repeat(256) } },
    { why: "not valid yet", more: { nbf: NOW / 1000 + 120 } },
    { why: "valid from something that is not a time", more: { nbf: "later" } },
  ])("are rejected: $why", async ({ more }) => {
    await expect(oidc.callerOf(signed(first.privateKey, claims(more)))).rejects.toMatchObject({
      kind: "unauthenticated",
    });
  });

  test.each([
    { why: "no signature at all", header: { alg: "none" } },
    { why: "a shared secret", header: { alg: "HS256", kid: "one" } },
    { why: "an algorithm of another key type", header: { alg: "RS256", kid: "one" } },
    { why: "the name of an inherited member", header: { alg: "constructor" } },
    { why: "an extension that must be understood", header: { alg: "ES256", kid: "one", crit: ["b64"], b64: false } },
  ])("are rejected: $why", async ({ header }) => {
    await expect(oidc.callerOf(signed(first.privateKey, claims(), header))).rejects.toMatchObject({
      kind: "unauthenticated",
    });
  });

  test.each(["null", "5", "[]", '"text"', "{", "", '{"alg":null,"kid":{}}'])(
    "are rejected: parts that are %s",
    async (text) => {
      const part = Buffer.from(text).toString("base64url");
      const good = Buffer.from(JSON.stringify(claims())).toString("base64url");
      for (const token of [`${part}.${part}.eA`, `${part}.${good}.eA`, `e30.${part}.eA`]) {
        await expect(oidc.callerOf(token)).rejects.toMatchObject({ kind: "unauthenticated" });
      }
    },
  );

  test("entries of the key set that are not keys are ignored", async () => {
    served = { keys: [null, 5, [], {}, { kty: "EC" }, { kty: "EC", kid: "one" }, jwkOf(first.publicKey, "one")] };
    expect((await oidc.callerOf(signed(first.privateKey, claims()))).name).toBe("u1");
  });

  test("a new key is fetched once per cooldown, however many unknown keys are used", async () => {
    await oidc.callerOf(signed(first.privateKey, claims()));
    const second = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const token = signed(second.privateKey, claims(), { alg: "ES256", kid: "two" });
    await expect(oidc.callerOf(token), "within the cooldown").rejects.toMatchObject({ kind: "unauthenticated" });
    served = { keys: [jwkOf(second.publicKey, "two")] };
    await time.advance(11_000);
    expect((await oidc.callerOf(token)).name).toBe("u1");
    expect(fetched).toHaveLength(4);
    await expect(oidc.callerOf(signed(first.privateKey, claims()))).rejects.toMatchObject({ kind: "unauthenticated" });
    expect(fetched).toHaveLength(4);
  });

  test("without a key id every key of the type is tried", async () => {
    const second = generateKeyPairSync("ec", { namedCurve: "P-256" });
    served = { keys: [jwkOf(first.publicKey, "one"), jwkOf(second.publicKey, "two")] };
    const stranger = generateKeyPairSync("ec", { namedCurve: "P-256" });
    for (const { privateKey } of [first, second])
      expect((await oidc.callerOf(signed(privateKey, claims(), { alg: "ES256" }))).name).toBe("u1");
    for (const [key, more] of [
      [stranger.privateKey, {}],
      [second.privateKey, { exp: NOW / 1000 - 61 }],
    ] as const)
      await expect(oidc.callerOf(signed(key, claims(more), { alg: "ES256" }))).rejects.toMatchObject({
        kind: "unauthenticated",
      });
  });

  test("while the issuer is unreachable known keys stay valid; without any the fault is unavailable", async () => {
    let isReachable = false;
    const away = new OidcCallers({
      issuer,
      audience: "oaas",
      roleClaim: "r",
      roleMapping: DEFAULT_ROLE_MAPPING,
      clock: time,
      fetchJson: async (url) => {
        if (!isReachable) throw new Error("away");
        return url.endsWith("openid-configuration") ? { jwks_uri: `${issuer}/keys` } : served;
      },
    });
    const token = signed(first.privateKey, claims({ exp: NOW / 1000 + 86_400 }));
    for (let attempt = 0; attempt < 2; attempt += 1)
      await expect(away.callerOf(token)).rejects.toMatchObject({ kind: "unavailable" });
    isReachable = true;
    await time.advance(11_000);
    expect((await away.callerOf(token)).name).toBe("u1");
    isReachable = false;
    await time.advance(2 * 3_600_000);
    expect((await away.callerOf(token)).name).toBe("u1");
  });
});

describe("the Authorization header", () => {
  const tokens = readTokens(`ann:admin:${hashOf("s3cret")}`);
  const table = tokens.ok ? tokens.value : undefined;
  const bearer = bearerAuthenticator(() => table, undefined);
  const who = (authorization: string | undefined, ...names: string[]): SentCredentials => ({
    authorization,
    address: "1.2.3.4",
    certificate: () => (names.length === 0 ? undefined : { commonName: undefined, names }),
  });

  test("a known bearer token is a caller, in any casing of the word", async () => {
    expect(await bearer(who("bearer s3cret"))).toEqual({ name: "ann", role: "admin" });
  });

  test.each([[undefined], ["s3cret"], ["Basic YTpi"], ["Bearer wrong"], ["Bearer a.b.c"], ["Bearer "]])(
    "rejects %s",
    async (header) => {
      await expect(bearer(who(header))).rejects.toMatchObject({ kind: "unauthenticated" });
    },
  );

  test("names callers by their address when authentication is off", async () => {
    const authenticate = acceptEveryCaller();
    for (const address of ["127.0.0.1", "127.0.0.1", "10.0.0.7", "127.0.0.1"])
      expect(await authenticate({ ...who(undefined), address })).toMatchObject({
        name: `anonymous@${address}`,
        role: "admin",
      });
  });

  describe("with client certificates", () => {
    const rules = [
      { name: "CN:ci", role: "deployer" },
      { name: "DNS:ci.test", role: "viewer" },
    ] as const;

    test("a listed certificate is a caller with the highest role of its names", async () => {
      const authenticate = certificateAuthenticator(rules, undefined);
      expect(await authenticate(who(undefined, "DNS:ci.test"))).toEqual({ name: "DNS:ci.test", role: "viewer" });
      expect(await authenticate(who(undefined, "DNS:ci.test", "CN:ci"))).toEqual({ name: "CN:ci", role: "deployer" });
      const everyOne = certificateAuthenticator([{ name: "*", role: "viewer" }], undefined);
      expect(await everyOne(who(undefined, "CN:eve"))).toEqual({ name: "CN:eve", role: "viewer" });
    });

    test("rejects other certificates of the authority, and none", async () => {
      const authenticate = certificateAuthenticator(rules, bearer);
      await expect(authenticate(who("bearer s3cret", "CN:eve"))).rejects.toMatchObject({
        kind: "permission-denied",
        message: expect.stringContaining("(CN:eve) is not listed in OPRC_PM_SECURITY_TLS_CLIENT_NAMES") as string,
      });
      await expect(authenticate(who("bearer s3cret"))).rejects.toMatchObject({ kind: "unauthenticated" });
    });

    test("with tokens, both are required and the lower role applies", async () => {
      const authenticate = certificateAuthenticator(rules, bearer);
      await expect(authenticate(who(undefined, "CN:ci"))).rejects.toMatchObject({ kind: "unauthenticated" });
      expect(await authenticate(who("bearer s3cret", "CN:ci"))).toEqual({ name: "ann", role: "deployer" });
    });
  });
});
