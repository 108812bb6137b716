import type { DescMethod } from "@bufbuild/protobuf";
import { grpcHealth, grpcReflection, grpcReflectionAlpha, HealthService, METADATA_KEYS } from "@oaas/contracts/grpc";
import { Fault } from "@oaas/foundation";
import type { Call } from "@oaas/rpc";

/** What anyone may ask: whether we are up, and what we speak. */
const OPEN: ReadonlySet<string> = new Set(
  [grpcHealth.Health, HealthService, grpcReflection.ServerReflection, grpcReflectionAlpha.ServerReflection].map(
    ({ typeName }) => typeName,
  ),
);

/**
 * Lets a call in that carries one of the tokens; health and reflection are open. Without tokens every call is let in. The tokens are asked for
 * at each call, so that a rotated one counts at once.
 */
export function bearerAuthorizer(tokens: () => readonly string[]): (method: DescMethod, call: Call) => void {
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
