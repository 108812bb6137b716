import type { DescMethod } from "@bufbuild/protobuf";
import { grpcHealth, grpcReflection, grpcReflectionAlpha, HealthService, METADATA_KEYS } from "@oaas/contracts/grpc";
import { Fault } from "@oaas/foundation";
import type { Call } from "@oaas/rpc";

type Authorizer = (method: DescMethod, call: Call) => void;

const HEALTH: readonly string[] = [grpcHealth.Health.typeName, HealthService.typeName];

/** What anyone may ask who may connect: whether we are up, and what we speak. */
const OPEN: ReadonlySet<string> = new Set([
  ...HEALTH,
  grpcReflection.ServerReflection.typeName,
  grpcReflectionAlpha.ServerReflection.typeName,
]);

/** Lets a call in when each of them does. */
export function everyAuthorizer(authorizers: readonly Authorizer[]): Authorizer {
  return (method, call) => {
    for (const authorize of authorizers) authorize(method, call);
  };
}

/** Lets a call in whose caller showed a certificate, which the connection has verified; health is open. */
export function certificateAuthorizer(): Authorizer {
  return (method, call) => {
    if (call.peer.certificate || HEALTH.includes(method.parent.typeName)) return;
    throw new Fault({ kind: "unauthenticated" }, "connect with a client certificate");
  };
}

/**
 * Lets a call in that carries one of the tokens; health and reflection are open. Without tokens every call is let in. The tokens are asked for
 * at each call, so that a rotated one counts at once.
 */
export function bearerAuthorizer(tokens: () => readonly string[]): Authorizer {
  return (method, call) => {
    const accepted = tokens();
    if (accepted.length === 0 || OPEN.has(method.parent.typeName)) return;
    const given = /^bearer +(\S+)$/i.exec(call.header(METADATA_KEYS.authorization) ?? "")?.[1];
    if (given === undefined) {
      throw new Fault({ kind: "unauthenticated" }, "send a bearer token in the authorization header");
    }
    // Every token is compared to its end, so that the time taken says nothing.
    const matches = accepted.map((token) => isSameText(token, given));
    if (!matches.includes(true)) throw new Fault({ kind: "unauthenticated" }, "the bearer token is not accepted here");
  };
}

/** Compares in a time that depends on the given text's length only. */
function isSameText(secret: string, given: string): boolean {
  let difference = secret.length ^ given.length;
  for (let at = 0; at < given.length; at += 1) {
    difference |= given.charCodeAt(at) ^ secret.charCodeAt(at % Math.max(1, secret.length));
  }
  return difference === 0;
}
