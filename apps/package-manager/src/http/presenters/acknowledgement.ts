import type { Acknowledgement, PackagePreview } from "../../use-cases.ts";
import { json, type HttpReply } from "../handler.ts";
import { etagOf } from "../preconditions.ts";

/** The answer to a write that is done. */
export function acknowledged(ack: Acknowledgement, code: number, where?: Readonly<Record<string, string>>): HttpReply {
  const { version } = ack;
  return json(told(ack), version === undefined ? where : { etag: etagOf(version), ...where }, code);
}

/** The answer to a dry run; its ETag is that of the package as it is, for the write that may follow. */
export function rehearsedReply({ version, message, ...would }: PackagePreview): HttpReply {
  const body = { ...would, message: message ?? null, dry_run: true };
  return json(body, version === undefined ? undefined : { etag: etagOf(version) });
}

/** The answer to a write that goes on after it, with the place to follow it. */
export function accepted(ack: Omit<Acknowledgement, "status" | "version">, statusUrl: string): HttpReply {
  const body = { ...told({ ...ack, status: "accepted" }), status_url: statusUrl };
  return json(body, { location: statusUrl }, 202);
}

function told({ id, key, status, message }: Omit<Acknowledgement, "version">): object {
  const text = message ?? null;
  return key === undefined ? { id, status, message: text } : { id, deployment_key: key, status, message: text };
}
