import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import type { BodyClaim } from "../../access/limits/body-budget.ts";
import { tooLarge } from "./framework-errors.ts";

export interface BodyLimits {
  readonly claim: BodyClaim;
  readonly maxBytes: number;
}

/**
 * Claims the declared length of a body, before it is sent. A body of unknown length claims what has arrived. Throws when
 * it is larger than the limit or than the budget allows.
 */
export function claimDeclaredLength({ headers }: IncomingMessage, { claim, maxBytes }: BodyLimits): void {
  const declared = Number(headers["content-length"] ?? 0);
  if (declared > maxBytes) throw tooLarge(maxBytes);
  claim.growTo(declared);
}

/** Reads a whole body within its limits. A rejected body is not destroyed: its connection still carries the response. */
export async function readWholeBody(body: Readable, { claim, maxBytes }: BodyLimits): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxBytes) throw tooLarge(maxBytes);
    claim.growTo(length);
    chunks.push(chunk);
  }
  // A copy: chunks share the read buffer of their socket.
  return Buffer.concat(chunks, length);
}
