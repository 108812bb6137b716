import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { AuditEntry } from "@oaas/contracts/rest";
import { realAmbient } from "@oaas/foundation/real";
import { openMemoryStore } from "@oaas/storage/memory";
import { describe, expect, test } from "vitest";
import { startOidcProvider, type OidcProvider } from "./fakes/oidc-provider.ts";
import { echoPackage, startPm, type Answer, type PmOptions, type PmUnderTest } from "./running-pm.ts";

const hashOf = (token: string): string => createHash("sha256").update(token).digest("hex");
const TOKENS = [
  `ann:admin:${hashOf("ann-token")}`,
  `vera:viewer:${hashOf("vera-token")}`,
  `crm:reporter@edge:${hashOf("crm-token")}`,
].join("\n");

const SESSION = "/api/v1/session";

/** Programs of a page: the headers that a browser sets by itself. */
function sentByPage(pm: PmUnderTest): Record<string, string> {
  return { "sec-fetch-site": "same-origin", origin: pm.url };
}

/** `name=value` of a Set-Cookie header. */
function cookieIn(answer: Answer, name = "oaas-session"): string {
  const found = answer.headers.getSetCookie().find((each) => each.startsWith(`${name}=`));
  if (found === undefined) throw new Error(`no cookie ${name} in ${JSON.stringify(answer.headers.getSetCookie())}`);
  return found.split(";", 1)[0] as string;
}

async function signIn(pm: PmUnderTest, token: string): Promise<{ cookie: string; csrf: string; answer: Answer }> {
  const answer = await pm.call("POST", SESSION, { body: { token }, headers: sentByPage(pm) });
  expect([answer.status, answer.text]).toEqual([200, expect.stringContaining("csrf_token")]);
  return { cookie: cookieIn(answer), csrf: answer.json.csrf_token as string, answer };
}

const start = (options: PmOptions = {}): Promise<PmUnderTest> => startPm({ tokens: TOKENS, ...options });

describe("a session", () => {
  test("is opened with a token, says who the caller is, authenticates requests, and ends with the sign-out", async () => {
    await using pm = await start();
    const before = await pm.call("GET", SESSION);
    expect(before.json).toMatchObject({
      authentication: "required",
      authenticated: false,
      caller: null,
      roles: [],
      source: "none",
      csrf_token: null,
      sign_in_methods: ["token"],
      oidc_login_url: null,
      lab: false,
    });
    const { cookie, csrf, answer } = await signIn(pm, "ann-token");
    const [header] = answer.headers.getSetCookie();
    expect(header).toMatch(/^oaas-session=[\w-]{43}; Path=\/; Max-Age=28\d{3}; HttpOnly; SameSite=Strict$/);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    const now = await pm.call("GET", SESSION, { headers: { cookie, ...sentByPage(pm) } });
    expect(now.json).toMatchObject({
      authenticated: true,
      caller: { name: "ann", subject: "ann", issuer: null, role: "admin" },
      roles: ["viewer", "deployer", "admin"],
      source: "session",
      csrf_token: csrf,
    });
    expect(now.json.expires_at).toBe(answer.json.expires_at);
    const page = { cookie, ...sentByPage(pm) };
    expect((await pm.call("GET", "/api/v1/packages", { headers: page })).status).toBe(200);
    const body = echoPackage("shop");
    const written = await pm.call("POST", "/api/v1/packages", { body, headers: { ...page, "x-csrf-token": csrf } });
    expect(written.status).toBe(201);
    const ended = await pm.call("DELETE", SESSION, { headers: { ...page, "x-csrf-token": csrf } });
    expect([ended.status, ended.headers.getSetCookie()]).toEqual([
      204,
      [expect.stringMatching(/^oaas-session=;.*Max-Age=0/)],
    ]);
    const after = await pm.call("GET", "/api/v1/packages", { headers: page });
    expect([after.status, after.json.error]).toEqual([401, expect.stringContaining("sign in again")]);
    expect((await pm.call("DELETE", SESSION, { headers: { ...page, "x-csrf-token": csrf } })).status).toBe(204);
  });

  test("has the role of its token", async () => {
    await using pm = await start();
    const { cookie, csrf } = await signIn(pm, "vera-token");
    const headers = { cookie, "x-csrf-token": csrf, ...sentByPage(pm) };
    expect((await pm.call("GET", "/api/v1/packages", { headers })).status).toBe(200);
    expect((await pm.call("POST", "/api/v1/packages", { body: echoPackage("shop"), headers })).status).toBe(403);
    expect((await pm.call("GET", "/api/v1/audit", { headers })).status).toBe(403);
  });

  test("works in other processes on the store and after a restart, until its token leaves the token file", async () => {
    const store = openMemoryStore({ ambient: realAmbient });
    const first = await start({ store });
    const { cookie } = await signIn(first, "ann-token");
    await using second = await start({ store });
    const headers = { cookie, ...sentByPage(second) };
    expect((await second.call("GET", "/api/v1/packages", { headers })).status).toBe(200);
    await first.close();
    await using without = await start({ store, tokens: TOKENS.split("\n").slice(1).join("\n") });
    expect((await without.call("GET", "/api/v1/packages", { headers })).status).toBe(401);
    const records = await store.range({ prefix: "" });
    const secret = cookie.split("=")[1] as string;
    expect(
      records.entries.filter(({ key, value }) => `${key}${value}`.includes(secret)),
      "only a digest is stored",
    ).toEqual([]);
    await store.close();
  });

  test("opens the one event stream of all topics, as a page does, and resumes it", async () => {
    await using pm = await start();
    const { cookie, csrf } = await signIn(pm, "ann-token");
    const headers = { cookie, ...sentByPage(pm) };
    const follow = async (more: Record<string, string>, expected: string): Promise<string> => {
      const stop = new AbortController();
      const response = await fetch(`${pm.url}/api/v1/events`, {
        headers: { ...headers, ...more },
        signal: stop.signal,
      });
      expect([response.status, response.headers.get("content-type")]).toEqual([
        200,
        "text/event-stream; charset=utf-8",
      ]);
      const create = { body: echoPackage(expected), headers: { ...headers, "x-csrf-token": csrf } };
      expect((await pm.call("POST", "/api/v1/packages", create)).status).toBe(201);
      let text = "";
      for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
        text += Buffer.from(chunk).toString();
        if (text.includes(`"key":"${expected}"`) && text.endsWith("\n\n")) break;
      }
      stop.abort();
      return text;
    };
    const first = await follow({}, "first");
    const id = /^id: ?(.*)$/m.exec(first)?.[1] ?? "";
    await pm.call("POST", "/api/v1/packages", {
      body: echoPackage("between"),
      headers: { ...headers, "x-csrf-token": csrf },
    });
    const resumed = await follow({ "last-event-id": id }, "second");
    expect(resumed.indexOf('"key":"between"')).toBeGreaterThan(-1);
    expect(resumed.indexOf('"key":"between"')).toBeLessThan(resumed.indexOf('"key":"second"'));
    expect(resumed).not.toContain("resync");
  });

  test("ends its open event streams when it is signed out", async () => {
    await using pm = await start();
    const { cookie, csrf } = await signIn(pm, "ann-token");
    const headers = { cookie, ...sentByPage(pm) };
    const stream = await fetch(`${pm.url}/api/v1/events`, { headers });
    expect(stream.status).toBe(200);
    const ended = await pm.call("DELETE", SESSION, { headers: { ...headers, "x-csrf-token": csrf } });
    expect(ended.status).toBe(204);
    expect(await stream.text(), "a text is complete when its stream ends").toContain(": connected");
    expect((await fetch(`${pm.url}/api/v1/events`, { headers })).status).toBe(401);
  });

  test("ends after SESSION_MAX_AGE", async () => {
    const clock = { ...realAmbient.clock, now: () => Date.now() + 3_600_000 };
    const store = openMemoryStore({ ambient: realAmbient });
    await using pm = await start({ store, env: { SESSION_MAX_AGE: "30m" } });
    const { cookie } = await signIn(pm, "ann-token");
    await using later = await start({ store, env: { SESSION_MAX_AGE: "30m" }, ambient: { ...realAmbient, clock } });
    const headers = { cookie, ...sentByPage(later) };
    expect((await later.call("GET", "/api/v1/packages", { headers })).status).toBe(401);
    expect((await later.call("GET", SESSION, { headers })).json).toMatchObject({
      authenticated: false,
      csrf_token: null,
    });
  });
});

describe("a cookie", () => {
  test.each([
    { why: "a page of another site", headers: { "sec-fetch-site": "cross-site" } },
    { why: "another port of this host, which is the same site", headers: { "sec-fetch-site": "same-site" } },
    { why: "another origin, of a browser without Sec-Fetch-Site", headers: { origin: "https://evil.example" } },
    { why: "an opaque origin", headers: { origin: "null" } },
    { why: "another port, of a browser without Sec-Fetch-Site", headers: { origin: "http://127.0.0.1:1" } },
  ])("does not count in a request of $why", async ({ headers }) => {
    await using pm = await start();
    const { cookie, csrf } = await signIn(pm, "ann-token");
    for (const [method, target] of [
      ["GET", "/api/v1/packages"],
      ["GET", "/api/v1/events"],
      ["POST", "/api/v1/packages"],
      ["DELETE", SESSION],
    ] as const) {
      const body = method === "POST" ? { body: echoPackage("shop") } : {};
      const sent = { ...headers, cookie, "x-csrf-token": csrf } as Record<string, string>;
      const answer = await pm.call(method, target, { ...body, headers: sent });
      expect([method, target, answer.status]).toEqual([method, target, 403]);
      expect(answer.json).toMatchObject({
        kind: "permission-denied",
        error: expect.stringContaining("does not count"),
      });
    }
    const session = await pm.call("GET", SESSION, { headers: { ...headers, cookie } });
    expect(session.json).toMatchObject({ authenticated: false, csrf_token: null });
    const own = { headers: { cookie, ...sentByPage(pm) } };
    expect((await pm.call("GET", "/api/v1/packages", own)).json, "nothing was written").toEqual([]);
  });

  test.each([
    { why: "no CSRF token", token: () => undefined, message: "is missing" },
    { why: "a wrong CSRF token", token: () => "wrong", message: "is not that of the session" },
    { why: "the secret of the cookie", token: (secret: string) => secret, message: "is not that of the session" },
  ])("does not count in a write with $why", async ({ token, message }) => {
    await using pm = await start();
    const { cookie } = await signIn(pm, "ann-token");
    const csrf = token(cookie.split("=")[1] as string);
    const headers = { cookie, ...sentByPage(pm), ...(csrf === undefined ? {} : { "x-csrf-token": csrf }) };
    const answer = await pm.call("POST", "/api/v1/packages", { body: echoPackage("shop"), headers });
    expect([answer.status, answer.json.error]).toEqual([403, expect.stringContaining(message)]);
    expect((await pm.call("DELETE", SESSION, { headers })).status).toBe(403);
    expect((await pm.call("GET", "/api/v1/packages", { headers: { cookie } })).json).toEqual([]);
  });

  test("counts when a person opens an address, and never together with another credential", async () => {
    await using pm = await start();
    const { cookie, csrf } = await signIn(pm, "ann-token");
    expect((await pm.call("GET", "/api/v1/packages", { headers: { cookie, "sec-fetch-site": "none" } })).status).toBe(
      200,
    );
    const both = { cookie, "x-csrf-token": csrf, authorization: "Bearer vera-token", ...sentByPage(pm) };
    expect((await pm.call("POST", "/api/v1/packages", { body: echoPackage("shop"), headers: both })).status).toBe(403);
    const session = await pm.call("GET", SESSION, { headers: both });
    expect(session.json).toMatchObject({ source: "token", caller: { name: "vera" }, csrf_token: null });
  });

  test.each(["", "x", "a".repeat(43), `${"a".repeat(42)}/`, "a".repeat(9_000)])(
    "that no one issued is rejected: %#",
    async (value) => {
      await using pm = await start();
      const answer = await pm.call("GET", "/api/v1/packages", {
        headers: { cookie: `other=1; oaas-session=${value}` },
      });
      expect([401]).toContain(answer.status);
    },
  );

  test("is sent over TLS only when that is set, under a name that no other host can set", async () => {
    await using pm = await start({ env: { SESSION_COOKIE_SECURE: "true" } });
    const answer = await pm.call("POST", SESSION, { body: { token: "ann-token" } });
    expect(answer.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^__Host-oaas-session=.*; Path=\/;.*; Secure$/),
    ]);
  });
});

describe("signing in", () => {
  test.each([
    { why: "an unknown token", token: "wrong", status: 401 },
    { why: "an empty token", token: " ", status: 401 },
    { why: "the token of a class runtime manager, which may read nothing", token: "crm-token", status: 403 },
    { why: "a token with line breaks", token: "ann-token\r\nx: y", status: 401 },
  ])("is refused for $why, and no cookie is set", async ({ token, status }) => {
    await using pm = await start();
    const answer = await pm.call("POST", SESSION, { body: { token } });
    expect([answer.status, answer.headers.getSetCookie()]).toEqual([status, []]);
    expect(answer.headers.get("content-type")).toContain("application/problem+json");
  });

  test.each([
    { body: {}, field: "$.token" },
    { body: { token: ["a"] }, field: "$.token" },
    { body: { token: "ann-token", role: "admin" }, field: "$.role" },
    { body: [], field: "$" },
  ])("names the wrong field of $body", async ({ body, field }) => {
    await using pm = await start();
    const answer = await pm.call("POST", SESSION, { body });
    expect([answer.status, answer.json.violations?.[0]?.path]).toEqual([400, field]);
  });

  test("is refused for a page of another origin, which would sign the browser in as someone else", async () => {
    await using pm = await start();
    for (const headers of [{ "sec-fetch-site": "cross-site" }, { origin: "https://evil.example" }] as const) {
      const answer = await pm.call("POST", SESSION, { body: { token: "ann-token" }, headers: { ...headers } });
      expect([answer.status, answer.headers.getSetCookie()]).toEqual([403, []]);
    }
  });

  test("is limited per address, whether or not the attempts succeed", async () => {
    await using pm = await start();
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 25; attempt += 1) {
      const answer = await pm.call("POST", SESSION, { body: { token: "guess" } });
      statuses.push(answer.status);
      if (answer.status === 429) expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
    }
    expect(statuses.slice(0, 20)).toEqual(Array.from({ length: 20 }, () => 401));
    expect(statuses.at(-1)).toBe(429);
    expect((await pm.call("POST", SESSION, { body: { token: "ann-token" } })).status).toBe(429);
  });

  test("and out are in the audit trail with the caller, failures with the reason, and never with the token", async () => {
    const lines: AuditEntry[] = [];
    await using pm = await start({
      audit: { write: async (entries) => void lines.push(...entries), close: async () => undefined },
    });
    await pm.call("POST", SESSION, { body: { token: "wrong-secret" } });
    const { cookie, csrf } = await signIn(pm, "ann-token");
    await pm.call("DELETE", SESSION, { headers: { cookie, "x-csrf-token": csrf, ...sentByPage(pm) } });
    const kept = await pm.call("GET", "/api/v1/audit", { headers: { authorization: "Bearer ann-token" } });
    expect(kept.json.map(({ action, outcome, actor }: AuditEntry) => [action, outcome, actor.subject])).toEqual([
      ["deleteSession", "succeeded", "ann"],
      ["createSession", "succeeded", "ann"],
    ]);
    await pm.close();
    expect(lines.map(({ action, outcome, status }) => [action, outcome, status])).toEqual([
      ["createSession", "refused", 401],
      ["createSession", "started", null],
      ["createSession", "succeeded", 200],
      ["deleteSession", "started", null],
      ["deleteSession", "succeeded", 204],
    ]);
    expect(JSON.stringify(lines)).not.toMatch(/wrong-secret|ann-token/);
  });

  test("is not needed while authentication is off, and faults can be injected into a local stack only", async () => {
    await using pm = await startPm();
    for (const [method, target] of [
      ["GET", "/api/v1/lab"],
      ["POST", "/api/v1/lab/faults"],
      ["POST", "/api/v1/lab/restore"],
    ] as const) {
      const body = method === "GET" ? {} : { body: { fault: "partition", cluster: "edge" } };
      const answer = await pm.call(method, target, body);
      expect([answer.status, answer.json.error]).toEqual([404, expect.stringContaining("npm start")]);
    }
    expect((await pm.call("GET", SESSION)).json).toMatchObject({
      authentication: "off",
      authenticated: true,
      caller: { role: "admin" },
      roles: ["viewer", "deployer", "admin"],
      csrf_token: null,
      sign_in_methods: [],
    });
    const answer = await pm.call("POST", SESSION, { body: { token: "x" } });
    expect([answer.status, answer.json.error]).toEqual([400, expect.stringContaining("authentication is off")]);
    expect((await pm.call("DELETE", SESSION)).status).toBe(204);
  });
});

describe("signing in at an issuer", () => {
  const LOGIN = `${SESSION}/oidc/login`;
  const html = { accept: "text/html" };

  async function startWithIssuer(provider: OidcProvider, more: Record<string, string> = {}): Promise<PmUnderTest> {
    return startPm({
      tokens: TOKENS,
      env: {
        OIDC_ISSUER: provider.issuer,
        OIDC_AUDIENCE: "api",
        OIDC_CLIENT_ID: "console",
        OIDC_CLIENT_SECRET: "client-secret",
        OIDC_REDIRECT_URL: "https://oaas.example/api/v1/session/oidc/callback",
        OIDC_ROLE_CLAIM: "groups",
        ...more,
      },
    });
  }

  /** Where the browser arrives after the issuer, as a path of the package manager. */
  async function throughIssuer(pm: PmUnderTest, provider: OidcProvider, returnTo?: string) {
    const query = returnTo === undefined ? "" : `?return_to=${encodeURIComponent(returnTo)}`;
    const begun = await pm.call("GET", LOGIN + query, { headers: html });
    expect(begun.status).toBe(302);
    const cookie = cookieIn(begun, "oaas-login");
    const { pathname, search } = new URL(await provider.authorize(begun.headers.get("location") ?? ""));
    return { begun, cookie, target: pathname + search };
  }

  const issuer = () => startOidcProvider({ id: "console", secret: "client-secret" });

  test("opens a session with the role of the claim, and returns to the page it started from", async () => {
    await using provider = await issuer();
    provider.claims = { preferred_username: "Ann", groups: ["x", "deployer"] };
    await using pm = await startWithIssuer(provider);
    expect((await pm.call("GET", SESSION)).json).toMatchObject({
      sign_in_methods: ["token", "oidc"],
      oidc_login_url: LOGIN,
    });
    const { begun, cookie, target } = await throughIssuer(pm, provider, "/deployments/a?tab=events");
    expect(begun.headers.getSetCookie()[0]).toMatch(/; Max-Age=600; HttpOnly; SameSite=Lax$/);
    // The issuer leads the browser here, so that this is a request of another site.
    const done = await pm.call("GET", target, { headers: { ...html, cookie, "sec-fetch-site": "cross-site" } });
    expect([done.status, done.headers.get("location")]).toEqual([302, "/deployments/a?tab=events"]);
    expect(done.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^oaas-session=[\w-]{43};.*HttpOnly; SameSite=Strict$/),
      expect.stringMatching(/^oaas-login=;.*Max-Age=0/),
    ]);
    const headers = { cookie: cookieIn(done), ...sentByPage(pm) };
    const session = await pm.call("GET", SESSION, { headers });
    expect(session.json).toMatchObject({
      caller: { name: "Ann", subject: "u1", issuer: provider.issuer, role: "deployer" },
      source: "session",
    });
    const write = { body: echoPackage("shop"), headers: { ...headers, "x-csrf-token": session.json.csrf_token } };
    expect((await pm.call("POST", "/api/v1/packages", write)).status).toBe(201);
    const [revision] = (await pm.call("GET", "/api/v1/packages/shop/revisions", { headers })).json;
    expect(revision.author).toBe("u1 (Ann)");
    const again = await pm.call("GET", target, { headers: { cookie } });
    expect([again.status, again.headers.getSetCookie()], "a code works once").toEqual([401, []]);
    expect(provider.refusals).toEqual(["unknown or used code"]);
  });

  test("works as a public client, protected by PKCE alone", async () => {
    await using provider = await startOidcProvider({ id: "console" });
    provider.claims = { groups: "viewer" };
    await using pm = await startPm({
      env: {
        SERVER_HOST: "127.0.0.1",
        OIDC_ISSUER: provider.issuer,
        OIDC_AUDIENCE: "api",
        OIDC_CLIENT_ID: "console",
        OIDC_REDIRECT_URL: "https://oaas.example/api/v1/session/oidc/callback",
        OIDC_ROLE_CLAIM: "groups",
      },
    });
    const { cookie, target } = await throughIssuer(pm, provider);
    expect((await pm.call("GET", target, { headers: { cookie } })).headers.get("location")).toBe("/");
    // Another browser's code, with one's own login: the issuer compares the verifier.
    const [mine, other] = [await throughIssuer(pm, provider), await throughIssuer(pm, provider)];
    const stolen = new URLSearchParams(other.target.split("?")[1]);
    const own = new URLSearchParams(mine.target.split("?")[1]);
    own.set("code", stolen.get("code") ?? "");
    const refused = await pm.call("GET", `${SESSION}/oidc/callback?${own.toString()}`, {
      headers: { cookie: mine.cookie },
    });
    expect([refused.status, refused.headers.getSetCookie()]).toEqual([401, []]);
    expect(provider.refusals).toEqual(["code_verifier"]);
  });

  test.each([
    { why: "without the login cookie", change: () => ({ cookie: undefined }), reason: "expired" },
    {
      why: "with the login of another browser",
      change: () => ({ cookie: `oaas-login=${"a".repeat(43)}.Lw` }),
      reason: "expired",
    },
    { why: "with another state", change: (q: URLSearchParams) => q.set("state", "x"), reason: "expired" },
    { why: "without a state", change: (q: URLSearchParams) => q.delete("state"), reason: "expired" },
    { why: "without a code", change: (q: URLSearchParams) => q.delete("code"), reason: "rejected" },
    {
      why: "with the answer of another issuer",
      change: (q: URLSearchParams) => q.set("iss", "https://evil.example"),
      reason: "rejected",
    },
    {
      why: "when the person refuses",
      change: (q: URLSearchParams) => q.set("error", "access_denied"),
      reason: "denied",
    },
    {
      why: "when the issuer refuses",
      change: (q: URLSearchParams) => q.set("error", "invalid_scope"),
      reason: "rejected",
    },
    { why: "without a mapped role", claims: { groups: ["others"] }, reason: "no_role" },
    { why: "with the nonce of another sign-in", claims: { nonce: "other" }, reason: "rejected" },
    { why: "with an ID token for another client", claims: { aud: "api" }, reason: "rejected" },
    { why: "with an ID token of another party", claims: { aud: ["console", "x"], azp: "x" }, reason: "rejected" },
    { why: "with an expired ID token", claims: { exp: 1 }, reason: "rejected" },
    { why: "with an ID token of another issuer", claims: { iss: "https://evil.example" }, reason: "rejected" },
    { why: "when the issuer is gone", isGone: true, reason: "unavailable" },
  ] as {
    why: string;
    change?: (query: URLSearchParams) => { cookie: string | undefined } | undefined;
    claims?: object;
    isGone?: boolean;
    reason: string;
  }[])("fails $why, with the page for it or a problem document", async ({ change, claims, isGone, reason }) => {
    await using provider = await issuer();
    provider.claims = { groups: ["viewer"], ...claims };
    const folder = mkdtempSync(path.join(tmpdir(), "console-"));
    writeFileSync(path.join(folder, "index.html"), "<!doctype html>");
    await using pm = await startWithIssuer(provider, { CONSOLE_DIR: folder });
    for (const accept of ["text/html", "application/json"]) {
      const { cookie, target } = await throughIssuer(pm, provider, "/clusters");
      const [url = "", search] = target.split("?");
      const query = new URLSearchParams(search);
      const changed = change?.(query);
      const sent = changed === undefined ? cookie : changed.cookie;
      if (isGone === true && accept === "application/json") await provider.close().catch(() => undefined);
      if (isGone === true && accept === "text/html") continue;
      const answer = await pm.call("GET", `${url}?${query.toString()}`, {
        headers: { accept, ...(sent === undefined ? {} : { cookie: sent }) },
      });
      const sessions = answer.headers.getSetCookie().filter((each) => each.startsWith("oaas-session"));
      expect(sessions).toEqual([]);
      if (accept === "application/json") {
        expect([401, 403, 503]).toContain(answer.status);
        expect(answer.headers.get("content-type")).toContain("application/problem+json");
      } else {
        expect(answer.status).toBe(302);
        const location = new URL(answer.headers.get("location") ?? "", pm.url);
        expect([location.pathname, location.searchParams.get("error")]).toEqual(["/sign-in", reason]);
        expect(location.origin).toBe(pm.url);
      }
    }
    rmSync(folder, { recursive: true });
  });

  test("leads a person back to the page for signing in when the issuer does not respond", async () => {
    const provider = await issuer();
    const folder = mkdtempSync(path.join(tmpdir(), "console-"));
    writeFileSync(path.join(folder, "index.html"), "<!doctype html>");
    await using pm = await startWithIssuer(provider, { CONSOLE_DIR: folder });
    await provider.close();
    const page = await pm.call("GET", `${LOGIN}?return_to=/clusters`, { headers: html });
    expect([page.status, page.headers.get("location")]).toEqual([
      302,
      "/sign-in?error=unavailable&return_to=%2Fclusters",
    ]);
    expect((await pm.call("GET", LOGIN)).status, "for programs").toBe(503);
    rmSync(folder, { recursive: true });
  });

  test.each([
    "//evil.example",
    "/\\evil.example",
    "https://evil.example",
    "evil",
    "/a\r\nx: y",
    "/ü",
    `/${"a".repeat(3000)}`,
  ])("leads to no other origin: %s", async (returnTo) => {
    await using provider = await issuer();
    await using pm = await startWithIssuer(provider);
    const answer = await pm.call("GET", `${LOGIN}?return_to=${encodeURIComponent(returnTo)}`);
    expect([answer.status, answer.json.violations[0].path]).toEqual([400, "$.return_to"]);
    expect(answer.headers.getSetCookie()).toEqual([]);
  });

  test("is limited per address, and answers 400 where it is not configured", async () => {
    await using provider = await issuer();
    await using pm = await startWithIssuer(provider);
    const statuses = new Set<number>();
    for (let attempt = 0; attempt < 25; attempt += 1) statuses.add((await pm.call("GET", LOGIN)).status);
    expect([...statuses]).toEqual([302, 429]);
    await using plain = await start();
    for (const target of [LOGIN, `${SESSION}/oidc/callback?code=a&state=b`])
      expect([target, (await plain.call("GET", target)).status]).toEqual([target, 400]);
  });
});
