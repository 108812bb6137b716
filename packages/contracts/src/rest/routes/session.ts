import { sessionView, signInInput } from "../resources/service/session.ts";
import { parameters, queryText } from "./query.ts";
import { BASE, type Route } from "./route.ts";

const SESSION = `${BASE}/session`;
const signInFaults = ["unauthenticated", "permission-denied", "failed-precondition", "resource-exhausted"] as const;

/** Sessions of browsers. */
export const sessionRoutes = {
  getSession: {
    method: "GET",
    path: SESSION,
    tag: "session",
    summary: "Read who the caller is, and how to sign in",
    role: "public",
    since: "ours",
    response: { status: 200, description: "The caller, also without valid credentials.", schema: sessionView },
    faults: [],
  },
  createSession: {
    method: "POST",
    path: SESSION,
    tag: "session",
    summary: "Sign in with a token: the response sets a cookie that authenticates requests of pages of this origin",
    role: "public",
    since: "ours",
    body: signInInput,
    response: { status: 200, description: "Signed in.", schema: sessionView, headers: ["SetCookie"] },
    faults: signInFaults,
  },
  deleteSession: {
    method: "DELETE",
    path: SESSION,
    tag: "session",
    summary: "Sign out; with a cookie, the header x-csrf-token is required",
    role: "public",
    since: "ours",
    response: { status: 204, description: "Signed out, or there was no session.", headers: ["SetCookie"] },
    faults: ["permission-denied"],
  },
  startOidcLogin: {
    method: "GET",
    path: `${SESSION}/oidc/login`,
    tag: "session",
    summary: "Sign in at the OIDC issuer: sends a browser there",
    role: "public",
    since: "ours",
    query: parameters({ return_to: queryText() }),
    response: {
      status: 302,
      description: "The address of the issuer is in `Location`.",
      headers: ["Location", "SetCookie"],
    },
    faults: signInFaults,
  },
  finishOidcLogin: {
    method: "GET",
    path: `${SESSION}/oidc/callback`,
    tag: "session",
    summary:
      "Receive the answer of the OIDC issuer, and go on to `return_to` of the login, or to the page for signing in",
    role: "public",
    since: "ours",
    query: parameters({ code: queryText(), state: queryText(), error: queryText(), iss: queryText() }),
    response: { status: 302, description: "The page is in `Location`.", headers: ["Location", "SetCookie"] },
    faults: signInFaults,
  },
} as const satisfies Readonly<Record<string, Route>>;
