import { formatApiVersion, type JsonObject } from "@oaas/kube-core";
import { invalidStatus } from "../../schema/field-error.ts";
import type { RecordedAnswer } from "../../../test/recording/kind-answers.ts";
import { builtInKinds } from "../built-in/built-in-kinds.ts";
import type { AdmissionContext, Kind } from "../kind.ts";
import { objectAt, textAt, withMember } from "../json-access.ts";

/** A short form of the verbs, for unit tests of rules. */

const CONTEXT: AdmissionContext = {
  time: "2026-01-01T00:00:00Z",
  uuid: () => "00000000-0000-4000-8000-000000000000",
  objects: () => [],
};

/** A new object of `apiVersion/resource`. */
export function admitCreate(of: string, sent: JsonObject, overrides: Partial<AdmissionContext> = {}): RecordedAnswer {
  const context = { ...CONTEXT, ...overrides };
  const kind = kindOf(of);
  const read = kind.rules.decode(sent);
  if (!read.ok) return createDecodeError(sent, kind, read.error);
  const withNamespace = kind.isNamespaced ? withMetadata(read.value, { namespace: "default" }) : read.value;
  const withUid = withMetadata(withNamespace, { uid: CONTEXT.uuid() });
  const stored = kind.rules.convert(kind.rules.applyDefaults(withUid), storageOf(kind, of));
  const reason = kind.rules.forbiddenReason(stored, context);
  const name = textAt(objectAt(stored, "metadata"), "name");
  if (reason !== undefined) return { code: 403, message: `${kind.resource} "${name}" is forbidden: ${reason}` };
  const ready = kind.rules.prepareCreate(stored, context);
  const withGeneration = kind.rules.countsGenerations ? withMetadata(ready, { generation: 1 }) : ready;
  return admit(kind, withGeneration, kind.rules.errors(withRequestVersion(withGeneration, of)), of);
}

/** An update of the main resource. */
export function admitUpdate(of: string, sent: JsonObject, before: JsonObject): RecordedAnswer {
  const kind = kindOf(of);
  const read = kind.rules.decode(sent);
  if (!read.ok) return createDecodeError(sent, kind, read.error);
  const storage = storageOf(kind, of);
  const live = kind.rules.convert(before, storage);
  const stored = kind.rules.convert(kind.rules.applyDefaults(read.value), storage);
  const withStatus = kind.versions[0]?.hasStatus === true ? withMember(stored, "status", live["status"]) : stored;
  const ready = kind.rules.prepareUpdate(withStatus, live, CONTEXT);
  const generation = Number(objectAt(live, "metadata")["generation"] ?? 0);
  const next = kind.rules.startsGeneration(ready, live) ? generation + 1 : generation;
  const withGeneration = kind.rules.countsGenerations ? withMetadata(ready, { generation: next }) : ready;
  return admit(
    kind,
    withGeneration,
    [...kind.rules.errors(withGeneration), ...kind.rules.updateErrors(withGeneration, live)],
    of,
  );
}

function admit(
  kind: Kind,
  object: JsonObject,
  errors: ReturnType<Kind["rules"]["errors"]>,
  of: string,
): RecordedAnswer {
  if (errors.length === 0) return { object: kind.rules.convert(object, of.slice(0, of.lastIndexOf("/"))) };
  const { code = 0, message = "", details } = invalidStatus(kind, textAt(objectAt(object, "metadata"), "name"), errors);
  return { code, message, causes: details?.causes as never };
}

/** Events are validated in the version they were sent in. */
function withRequestVersion(object: JsonObject, of: string): JsonObject {
  return of.startsWith("events.k8s.io/") ? { ...object, apiVersion: of.slice(0, of.lastIndexOf("/")) } : object;
}

function createDecodeError(sent: JsonObject, { kind }: Kind, reason: string): RecordedAnswer {
  const version = textAt(sent, "apiVersion").split("/").at(-1) ?? "";
  return { code: 400, message: `${kind} in version "${version}" cannot be handled as a ${kind}: ${reason}` };
}

function withMetadata(object: JsonObject, members: JsonObject): JsonObject {
  return { ...object, metadata: { ...objectAt(object, "metadata"), ...members } };
}

function kindOf(of: string): Kind {
  const found = builtInKinds().find((kind) =>
    kind.versions.some(
      (version) => `${formatApiVersion({ group: kind.group, version: version.name })}/${kind.resource}` === of,
    ),
  );
  if (found === undefined) throw new Error(`no kind is ${of}`);
  return found;
}

function storageOf(kind: Kind, of: string): string {
  if (of.startsWith("events.k8s.io/")) return of.slice(0, of.lastIndexOf("/"));
  return formatApiVersion({ group: kind.group, version: kind.storageVersion });
}
