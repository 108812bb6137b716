import type { Acknowledgement } from "../../use-cases.ts";
import { json, type HttpReply } from "../handler.ts";
import { etagOf } from "../read-request.ts";

/** The answer to a write that is done. */
export function acknowledged({ id, status, message, version }: Acknowledgement, code: number): HttpReply {
  const etag = version === undefined ? undefined : { etag: etagOf(version) };
  return json({ id, status, message: message ?? null }, etag, code);
}

/** The answer to a write that goes on after it, with the place to follow it. */
export function accepted(id: string, message: string | undefined, statusUrl: string): HttpReply {
  const body = { id, status: "accepted", message: message ?? null, status_url: statusUrl };
  return json(body, { location: statusUrl }, 202);
}
