import type { DescMethod } from "@bufbuild/protobuf";
import { grpcHealth, grpcReflection, grpcReflectionAlpha, HealthService, METADATA_KEYS } from "@oaas/contracts/grpc";
import { Fault } from "@oaas/foundation";
import type { Call } from "@oaas/rpc";

type Authorizer = (method: DescMethod, call: Call) => void;

const HEALTH: readonly string[] = [grpcHealth.Health.typeName, HealthService.typeName];

/** Services that need no token: health and reflection. */
const OPEN: ReadonlySet<string> = new Set([
  ...HEALTH,
  grpcReflection.ServerReflection.typeName,
  grpcReflectionAlpha.ServerReflection.typeName,
]);

/** Accepts a call that every authorizer accepts. */
export function everyAuthorizer(authorizers: readonly Authorizer[]): Authorizer {
  return (method, call) => {
    for (const authorize of authorizers) authorize(method, call);
  };
}

/** Accepts calls with a client certificate, which the TLS layer verified. Health needs none. */
export function certificateAuthorizer(): Authorizer {
  return (method, call) => {
    if (call.peer.certificate || HEALTH.includes(method.parent.typeName)) return;
    throw new Fault({ kind: "unauthenticated" }, "connect with a client certificate");
  };
}

/**
 * Accepts calls with one of the tokens. Health and reflection need none; without configured tokens every call is
 * accepted. The tokens are read for each call, so that a rotated token is valid at once.
 */
export function bearerAuthorizer(tokens: () => readonly string[]): Authorizer {
  return (method, call) => {
    const accepted = tokens();
    if (accepted.length === 0 || OPEN.has(method.parent.typeName)) return;
    const sent = /^bearer +(\S+)$/i.exec(call.header(METADATA_KEYS.authorization) ?? "")?.[1];
    if (sent === undefined) {
      throw new Fault({ kind: "unauthenticated" }, "send a bearer token in the authorization header");
    }
    // Compares every token in full, so that the response time reveals nothing.
    const matches = accepted.map((token) => isSameText(token, sent));
    if (!matches.includes(true)) throw new Fault({ kind: "unauthenticated" }, "the bearer token is not valid");
  };
}

/** Compares in a time that depends only on the length of `sent`. */
function isSameText(secret: string, sent: string): boolean {
  let difference = secret.length ^ sent.length;
  for (let at = 0; at < sent.length; at += 1) {
    difference |= sent.charCodeAt(at) ^ secret.charCodeAt(at % Math.max(1, secret.length));
  }
  return difference === 0;
}
