import { z } from "zod";
import { field, input, readText, view } from "../../reading/fields.ts";
import { ROLES } from "../../routes/route.ts";

/** How people can sign in. */
export const SIGN_IN_METHODS = ["token", "oidc"] as const;

/** An authenticated caller. */
const sessionCallerView = view({
  name: field("Name for people.", z.string()),
  subject: field("Identity: `sub` of a JWT, or the name in the token file.", z.string()),
  issuer: field("Issuer of the identity; null for other credentials.", z.string().nullable()),
  role: field("Highest role.", z.enum(ROLES)),
});

/** Who sends the requests of this browser or program, and how to sign in. */
export const sessionView = view({
  authentication: field("`off`: every client is admin, and no one signs in.", z.enum(["required", "off"])),
  authenticated: field("Whether the request has valid credentials.", z.boolean()),
  caller: field("The caller; null without valid credentials.", sessionCallerView.nullable()),
  roles: field("Every role of the caller; empty without valid credentials.", z.array(z.enum(ROLES))),
  source: field(
    "The credentials of this request: the cookie of a session, a bearer token, a client certificate, or none.",
    z.enum(["session", "token", "certificate", "none"]),
  ),
  csrf_token: field(
    "For the header `x-csrf-token` of writes that the cookie authenticates; null without a session. The same as long as the session.",
    z.string().nullable(),
  ),
  expires_at: field("When the session ends; null without a session.", z.string().nullable()),
  sign_in_methods: field(
    "How to sign in; empty when that is not possible or needed.",
    z.array(z.enum(SIGN_IN_METHODS)),
  ),
  oidc_login_url: field("Where a browser starts to sign in at the issuer; null without one.", z.string().nullable()),
  lab: field("Whether faults can be injected: in the local stack only.", z.boolean()),
});

/** The credentials to open a session with. */
export const signInInput = input({
  token: field("A bearer token: of the token file, or a JWT.", readText()),
});
