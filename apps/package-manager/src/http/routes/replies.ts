import { HEADERS, omitUndefined } from "@oaas/contracts/rest";
import type { Acknowledgement, ListPage, PackagePreview } from "../../use-cases.ts";
import { json, type HttpReply } from "../handler.ts";
import { etagOf } from "../request/preconditions.ts";

/** The reply to a completed write. */
export function acknowledged(
  ack: Acknowledgement,
  status: number,
  where: Readonly<Record<string, string>> = {},
): HttpReply {
  return json(acknowledgement(ack), { ...etagHeader(ack.version), ...where }, status);
}

/** The reply to a write that continues in the background, with the URL to follow it. */
export function accepted(ack: Omit<Acknowledgement, "status" | "version">, statusUrl: string): HttpReply {
  const body = { ...acknowledgement({ ...ack, status: "accepted" }), status_url: statusUrl };
  return json(body, { [HEADERS.location]: statusUrl }, 202);
}

/** The reply to a dry run. Its ETag is that of the current package, for the write that may follow. */
export function previewReply({ version, message, ...would }: PackagePreview): HttpReply {
  return json({ ...would, message: message ?? null, dry_run: true }, etagHeader(version));
}

/** The headers of a page: the total, and the token of the next page. */
export function pageHeaders({ total, next }: ListPage<unknown>): Record<string, string> {
  const count = { [HEADERS.totalCount]: String(total) };
  return next === undefined ? count : { ...count, [HEADERS.nextPageToken]: next };
}

function etagHeader(version: number | undefined): Readonly<Record<string, string>> {
  return version === undefined ? {} : { [HEADERS.etag]: etagOf(version) };
}

function acknowledgement({ id, key, status, message }: Acknowledgement): object {
  return omitUndefined({ id, deployment_key: key, status, message: message ?? null });
}
