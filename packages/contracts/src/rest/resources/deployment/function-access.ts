import type { Violation } from "@oaas/foundation";
import { z } from "zod";
import { field, input, mapOf, optional, readText, view } from "../../reading/fields.ts";

/** Bytes of the body of a request to a function, and of its response. */
export const INVOCATION_BYTES = 1024 * 1024;

/** Base64 is a third longer. */
const BASE64_CHARACTERS = Math.ceil((INVOCATION_BYTES * 4) / 3) + 4;
const MAX_HEADERS = 64;

/** One request to a function. */
export const invocationInput = input(
  {
    cluster: field("Cluster to call; default: the first one where the function is ready.", optional(readText())),
    method: field("GET, POST, PUT, PATCH or DELETE. Default: POST.", optional(readText())),
    path: field("Path and query. Default: `/`.", optional(readText())),
    headers: field("Request headers.", optional(mapOf(readText(), MAX_HEADERS))),
    body: field("Body as text.", optional(z.string().max(INVOCATION_BYTES))),
    body_base64: field("Body in base64, instead of `body`.", optional(z.string().max(BASE64_CHARACTERS))),
  },
  checkBody,
);

/** The response of a function. */
export const invocationView = view({
  cluster: field("Cluster that was called.", z.string()),
  status: field("HTTP status of the function.", z.int()),
  headers: field("Response headers, in lower case.", z.record(z.string(), z.string())),
  body: field("Body as text; null when it is not UTF-8.", z.string().nullable()),
  body_base64: field("Body in base64; null when `body` has it.", z.string().nullable()),
});

/** One line of output of a function: the data of one server-sent event. */
export const logLineView = view({
  cluster: field("Cluster name.", z.string()),
  pod: field("Pod that wrote it; empty when the line is about no pod.", z.string()),
  function_key: field("Function of the pod.", z.string()),
  at: field("Time of the line (RFC 3339); empty when unknown.", z.string()),
  text: field("The line.", z.string()),
  notice: field("Whether a manager wrote it: why output is missing.", z.boolean()),
});

function checkBody(members: Readonly<Record<string, unknown>>): readonly Violation[] {
  const { body, body_base64: encoded } = members;
  const isBase64 = typeof encoded !== "string" || /^[A-Za-z0-9+/]*={0,2}$/.test(encoded);
  return [
    ...(typeof body === "string" && typeof encoded === "string"
      ? [{ path: "$.body_base64", message: "is set together with body", fix: "set one of the two" }]
      : []),
    ...(isBase64 ? [] : [{ path: "$.body_base64", message: "is not base64", fix: "encode the body in base64" }]),
  ];
}
