import { applyMergePatch, isJsonObject, type JsonObject, type JsonValue } from "@oaas/kube-core";
import { textAt } from "../../src/kinds/json-access.ts";
import { KIND_DATA } from "../../src/kinds/built-in/kind-data.ts";
import { KIND_CASES, type KindCase } from "./kind-cases.ts";
import { MINIMAL } from "./minimal-objects.ts";
import type { Answer, SendRequest } from "./real-server.ts";

/** Placeholder for every generated id. */
const SOME_UID = "00000000-0000-4000-8000-000000000000";

/** A case with the response of the real server. */
export interface RecordedCase {
  readonly of: string;
  readonly why: string;
  /** The existing object, for an update. */
  readonly live?: JsonObject;
  readonly sent: JsonObject;
  readonly answer: RecordedAnswer;
}

/** The returned object, or the error. */
export type RecordedAnswer =
  | { readonly object: JsonObject }
  | { readonly code: number; readonly message: string; readonly causes?: JsonValue };

/** Sends every case to the real server. Creates are dry runs, and objects created for updates are deleted. */
export async function recordKindAnswers(
  send: SendRequest,
  cases: readonly KindCase[] = KIND_CASES,
): Promise<RecordedCase[]> {
  const recorded: RecordedCase[] = [];
  for (const [index, kindCase] of cases.entries()) recorded.push(await recordCase(send, kindCase, index));
  return recorded;
}

async function recordCase(
  send: SendRequest,
  { of, why, with: patch = {}, next }: KindCase,
  index: number,
): Promise<RecordedCase> {
  const { path, typeMeta } = placeOf(of);
  const name = next === undefined ? "a" : `case-${index}`;
  const first = patched({ ...typeMeta, metadata: { name }, ...MINIMAL[of] }, patch);
  if (next === undefined) {
    return { of, why, sent: first, answer: comparable(await send("POST", `${path}?dryRun=All`, { body: first })) };
  }
  const { code, body: live } = await send("POST", path, { body: first });
  if (code !== 201) throw new Error(`${of}, ${why}: could not create the object to update: ${JSON.stringify(live)}`);
  const sent = patched(live, next);
  const answer = comparable(await send("PUT", `${path}/${name}?dryRun=All`, { body: sent }));
  await send("DELETE", `${path}/${name}?gracePeriodSeconds=0`);
  return { of, why, live: withoutIds(live), sent: withoutIds(sent), answer };
}

function patched(object: JsonObject, patch: JsonObject): JsonObject {
  return applyMergePatch(object, patch) as JsonObject;
}

/** The path, apiVersion and kind of objects of `apiVersion/resource`. */
export function placeOf(of: string): { path: string; typeMeta: JsonObject } {
  const resource = of.slice(of.lastIndexOf("/") + 1);
  const apiVersion = of.slice(0, of.lastIndexOf("/"));
  const known = KIND_DATA.resources.find(
    (each) =>
      each.resource === resource && apiVersion === (each.group === "" ? each.version : `${each.group}/${each.version}`),
  );
  const base = apiVersion === "v1" ? "/api/v1" : `/apis/${apiVersion}`;
  const path = `${base}${known?.namespaced === true ? "/namespaces/default" : ""}/${resource}`;
  return { path, typeMeta: { apiVersion, kind: known?.kind ?? "" } };
}

/** A response without values that differ between runs. */
export function comparable({ code, body }: Answer): RecordedAnswer {
  if (body["kind"] !== "Status") return { object: withoutNoise(body) };
  const details = isJsonObject(body["details"]) ? body["details"] : {};
  const { causes } = details;
  return {
    code,
    message: textAt(body, "message"),
    ...(causes === undefined ? {} : { causes }),
  };
}

/** An object without times, ids and addresses that differ between runs. */
export function withoutNoise(object: JsonObject): JsonObject {
  const text = JSON.stringify(withoutIds(object))
    .replaceAll(/"10\.0\.\d+\.\d+"/g, '"<ip>"')
    .replaceAll(/"(nodePort|healthCheckNodePort)":3\d{4}/g, '"$1":"<port>"');
  return JSON.parse(text) as JsonObject;
}

function withoutIds(object: JsonObject): JsonObject {
  const metadata = isJsonObject(object["metadata"]) ? object["metadata"] : undefined;
  const uid = textAt(metadata ?? {}, "uid") || SOME_UID;
  const { managedFields: _, uid: _uid, creationTimestamp: _time, resourceVersion: _version, ...rest } = metadata ?? {};
  const plain = metadata === undefined ? object : { ...object, metadata: rest };
  return JSON.parse(JSON.stringify(plain).replaceAll(uid, SOME_UID)) as JsonObject;
}

/** The table as the text of its file: one line per case. */
export function kindAnswersText(cases: readonly RecordedCase[]): string {
  const note = "Made from the real kube-apiserver by `npm run kindgen`; not edited by hand.";
  return `{"note":${JSON.stringify(note)},\n"cases":[\n${cases.map((each) => JSON.stringify(each)).join(",\n")}\n]}\n`;
}
