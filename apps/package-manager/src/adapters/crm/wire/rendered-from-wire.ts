import { ObjectChange, type RenderUnitResponse } from "@oaas/contracts/grpc";
import type { ObjectChangeKind, RenderedObject, RenderedUnit } from "../../../ports.ts";

/** Bounds for peers that send more than ours do. */
const MAX_OBJECTS = 256;
const MAX_FIELDS = 16;
const MAX_TEXT = 1_000;

const CHANGES: Readonly<Record<number, ObjectChangeKind>> = {
  [ObjectChange.CREATE]: "create",
  [ObjectChange.UPDATE]: "update",
  [ObjectChange.DELETE]: "delete",
  [ObjectChange.UNCHANGED]: "unchanged",
  [ObjectChange.BLOCKED]: "blocked",
};

/** The objects of a unit. A change that this version does not know is an update. */
export function renderedFromWire(wire: RenderUnitResponse): RenderedUnit {
  return {
    namespace: wire.namespace,
    template: wire.template,
    objects: wire.objects.slice(0, MAX_OBJECTS).map(objectFromWire),
    moreObjects: wire.moreObjects + Math.max(0, wire.objects.length - MAX_OBJECTS),
    warnings: wire.warnings.slice(0, MAX_FIELDS).map(shorten),
  };
}

function objectFromWire(wire: RenderUnitResponse["objects"][number]): RenderedObject {
  const { kind, name, change, fields, moreFields, problem } = wire;
  return {
    kind,
    name,
    change: CHANGES[change] ?? "update",
    fields: fields
      .slice(0, MAX_FIELDS)
      .map(({ path, was, now }) => ({ path: shorten(path), was: shorten(was), now: shorten(now) })),
    moreFields: moreFields + Math.max(0, fields.length - MAX_FIELDS),
    ...(problem === undefined ? {} : { problem: shorten(problem) }),
  };
}

function shorten(text: string): string {
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT - 1)}…`;
}
