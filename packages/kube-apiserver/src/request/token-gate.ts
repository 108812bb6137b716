import type { Gate } from "./router.ts";

/** Paths that anyone may ask, as on the real server: whether it is well, and what it is. */
const OPEN = /^\/(?:healthz|livez|readyz|version)(?:\/|$)/;

/** Lets in whoever has the token, and nobody else. */
export function tokenGate(token: string): Gate {
  const wanted = `Bearer ${token}`;
  return {
    refusal: ({ headers }, { path }) =>
      OPEN.test(path) || sameText(headers["authorization"] ?? "", wanted)
        ? undefined
        : { status: "Failure", message: "Unauthorized", reason: "Unauthorized", code: 401 },
  };
}

/** In a time that does not tell where the texts begin to differ. */
function sameText(a: string, b: string): boolean {
  let difference = a.length ^ b.length;
  for (let at = 0; at < b.length; at += 1) difference |= (a.charCodeAt(at) || 0) ^ b.charCodeAt(at);
  return difference === 0;
}
