import { ROLES, type sessionView } from "@oaas/contracts/rest";
import { failedPrecondition, Fault, invalidArgument, timestamp } from "@oaas/foundation";
import type { z } from "zod";
import type { Authenticator } from "../../access/authenticator.ts";
import type { Caller } from "../../access/caller.ts";
import { deleteCookie, readCookie, setCookie, type CookieNames } from "../../access/sessions/cookies.ts";
import { LoginFailed, type OidcLogin } from "../../access/sessions/oidc-login.ts";
import { assertOwnPage, assertSameOrigin } from "../../access/sessions/own-page.ts";
import { csrfTokenOf, type Session, type Sessions } from "../../access/sessions/sessions.ts";
import type { SignIn } from "../../access/sessions/sign-in.ts";
import { json, type HandlersOf, type HttpReply, type SenderHead } from "../handler.ts";

export interface SessionRoutes {
  readonly authenticate: Authenticator;
  /** Undefined when no one can sign in: authentication is off, or only client certificates count. */
  readonly signIn:
    | {
        readonly sessions: Sessions;
        readonly service: SignIn;
        readonly oidc: OidcLogin | undefined;
        readonly cookies: CookieNames;
        readonly newSecret: () => string;
      }
    | undefined;
  readonly isAuthenticationOff: boolean;
  /** Whether the console shows the page for a failed sign-in at an issuer. */
  readonly hasConsole: boolean;
  readonly hasLab: boolean;
  readonly now: () => number;
}

type SessionWire = z.output<typeof sessionView>;
type Credentials = Pick<SessionWire, "source" | "csrf_token" | "expires_at"> & { readonly caller: Caller };

const LOGIN_SECONDS = 600;
const MAX_RETURN_TO = 2_048;

/** Handlers of sessions. */
export function sessionHandlers(routes: SessionRoutes): HandlersOf<"session"> {
  const { signIn } = routes;
  const offered = (): NonNullable<SessionRoutes["signIn"]> => {
    if (signIn !== undefined) return signIn;
    const why = routes.isAuthenticationOff ? "authentication is off" : "only client certificates are accepted";
    throw failedPrecondition("session", `There is nothing to sign in to: ${why}.`);
  };
  const offeredOidc = (): OidcLogin => {
    const { oidc } = offered();
    if (oidc !== undefined) return oidc;
    const message = "Sign-in at an issuer is not configured; set OIDC_CLIENT_ID, or sign in with a token";
    throw failedPrecondition("session", message);
  };
  return {
    getSession: async ({ sender }) => json(sessionToWire(routes, await credentialsOf(routes, sender))),
    createSession: async ({ body, sender, call }) => {
      const { service, cookies } = offered();
      assertSameOrigin({ method: "POST", header: (name) => sender.header(name) });
      const attempt = { action: "createSession", address: sender.address, correlationId: call.correlationId };
      const session = await service.withToken(attempt, body.token.trim(), () => sender.certificate());
      const wire = sessionToWire(routes, credentialsOfSession(session, session.secret));
      return { ...json(wire), cookies: [sessionCookie(cookies, session, routes.now())] };
    },
    deleteSession: async ({ sender, call }) => {
      const secret = signIn && readCookie(sender.header("cookie"), signIn.cookies.session);
      if (signIn === undefined || secret === undefined) return { status: 204 };
      assertOwnPage({ method: "DELETE", header: (name) => sender.header(name) }, secret);
      const attempt = { action: "deleteSession", address: sender.address, correlationId: call.correlationId };
      await signIn.service.signOut(attempt, secret);
      return { status: 204, cookies: [deleteCookie(signIn.cookies.session, signIn.cookies.isSecure)] };
    },
    startOidcLogin: async ({ query, sender, accept }) => {
      const { service, cookies, newSecret } = offered();
      const oidc = offeredOidc();
      const returnTo = returnPath(query.return_to);
      const secret = newSecret();
      let location: string;
      try {
        service.admit(sender.address);
        location = await oidc.authorizationUrl(secret);
      } catch (thrown) {
        return failedLogin(routes, accept, thrown, returnTo);
      }
      const value = `${secret}.${Buffer.from(returnTo).toString("base64url")}`;
      const options = { isSecure: cookies.isSecure, maxAgeSeconds: LOGIN_SECONDS, sameSite: "Lax" } as const;
      return { status: 302, headers: { location }, cookies: [setCookie(cookies.login, value, options)] };
    },
    finishOidcLogin: async (request) => {
      const { service, cookies } = offered();
      const { sender, call, query } = request;
      const begun = loginOf(readCookie(sender.header("cookie"), cookies.login));
      const attempt = { action: "finishOidcLogin", address: sender.address, correlationId: call.correlationId };
      const ended = deleteCookie(cookies.login, cookies.isSecure);
      try {
        const session = await service.withOidc(attempt, offeredOidc(), begun.secret, query);
        const opened = sessionCookie(cookies, session, routes.now());
        return { status: 302, headers: { location: begun.returnTo }, cookies: [opened, ended] };
      } catch (thrown) {
        return { ...failedLogin(routes, request.accept, thrown, begun.returnTo), cookies: [ended] };
      }
    },
  };
}

/** The page for signing in, with the reason, for people; the fault for programs. */
function failedLogin(
  { hasConsole }: SessionRoutes,
  accept: string | undefined,
  thrown: unknown,
  returnTo: string,
): HttpReply {
  const fault = thrown instanceof LoginFailed ? thrown.fault : Fault.from(thrown);
  if (!hasConsole || !(accept ?? "").includes("text/html")) throw fault;
  const reason =
    thrown instanceof LoginFailed
      ? thrown.reason
      : fault.kind === "resource-exhausted"
        ? "rate_limited"
        : "unavailable";
  const query = new URLSearchParams({ error: reason, return_to: returnTo });
  return { status: 302, headers: { location: `/sign-in?${query.toString()}` } };
}

async function credentialsOf(
  { authenticate, signIn, isAuthenticationOff }: SessionRoutes,
  sender: SenderHead,
): Promise<Credentials | undefined> {
  const authorization = sender.header("authorization");
  const secret =
    signIn === undefined || authorization !== undefined
      ? undefined
      : readCookie(sender.header("cookie"), signIn.cookies.session);
  try {
    const sent = { address: sender.address, authorization, certificate: () => sender.certificate(), session: secret };
    // The CSRF token is for pages of this origin only.
    if (secret !== undefined) assertSameOrigin({ method: "GET", header: (name) => sender.header(name) });
    const caller = await authenticate(sent);
    if (secret !== undefined && signIn !== undefined)
      return { ...credentialsOfSession(await signIn.sessions.find(secret), secret), caller };
    const source = isAuthenticationOff ? "none" : authorization === undefined ? "certificate" : "token";
    return { caller, source, csrf_token: null, expires_at: null };
  } catch (thrown) {
    const { kind } = Fault.from(thrown);
    if (kind === "unauthenticated" || kind === "permission-denied") return undefined;
    throw thrown;
  }
}

function credentialsOfSession({ caller, expiresAt }: Session, secret: string): Credentials {
  return { caller, source: "session", csrf_token: csrfTokenOf(secret), expires_at: timestamp(expiresAt) };
}

function sessionToWire(routes: SessionRoutes, credentials: Credentials | undefined): SessionWire {
  const { signIn, isAuthenticationOff, hasLab } = routes;
  const { caller, ...found } = credentials ?? { caller: undefined, source: "none", csrf_token: null, expires_at: null };
  return {
    authentication: isAuthenticationOff ? "off" : "required",
    authenticated: caller !== undefined,
    caller: caller === undefined ? null : callerToWire(caller),
    roles: caller === undefined ? [] : ROLES.slice(1, ROLES.indexOf(caller.role) + 1),
    ...found,
    sign_in_methods: signIn === undefined ? [] : signIn.oidc === undefined ? ["token"] : ["token", "oidc"],
    oidc_login_url: signIn?.oidc === undefined ? null : "/api/v1/session/oidc/login",
    lab: hasLab,
  };
}

function callerToWire({ name, role, oidc }: Caller): NonNullable<SessionWire["caller"]> {
  return { name, subject: oidc?.subject ?? name, issuer: oidc?.issuer ?? null, role };
}

function sessionCookie(
  { session, isSecure }: CookieNames,
  { expiresAt, secret }: Session & { readonly secret: string },
  nowMs: number,
): string {
  const maxAgeSeconds = Math.max(0, Math.floor((expiresAt - nowMs) / 1000));
  return setCookie(session, secret, { isSecure, maxAgeSeconds, sameSite: "Strict" });
}

/** A path of this origin; throws invalid-argument for anything that leads elsewhere. */
function returnPath(path = "/"): string {
  const isOwn = path.length <= MAX_RETURN_TO && /^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/.test(path);
  if (isOwn) return path;
  const message = "is not a path of this origin";
  throw invalidArgument("the query", [{ path: "$.return_to", message, fix: "use for example /deployments" }]);
}

/** What a login cookie contains; an unreadable one leads to the first page. */
function loginOf(cookie: string | undefined): { readonly secret: string | undefined; readonly returnTo: string } {
  const [secret, encoded = ""] = cookie?.split(".") ?? [];
  try {
    return { secret, returnTo: returnPath(Buffer.from(encoded, "base64url").toString() || "/") };
  } catch {
    return { secret, returnTo: "/" };
  }
}
