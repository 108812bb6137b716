import type { JsonObject } from "@oaas/kube-core";
import type { ObjectChange } from "../../controllers/cluster-objects.ts";
import { objectAt, textAt } from "../../kinds/json-access.ts";
import type { AccessObjects } from "../authorization/authorizer.ts";

/** Objects in a list, for unit tests of access. */
export function fakeAccessObjects(initial: readonly JsonObject[]): AccessObjects & { add(object: JsonObject): void } {
  const objects = [...initial];
  const listeners = new Set<(change: ObjectChange) => void>();
  const resourceOf = (object: JsonObject): string => `${textAt(object, "kind").toLowerCase()}s`;
  const list: AccessObjects["list"] = ({ resource }, namespace) =>
    objects.filter(
      (object) =>
        resourceOf(object) === resource &&
        (namespace === undefined || textAt(objectAt(object, "metadata"), "namespace") === namespace),
    );
  return {
    list,
    get: (kind, { namespace, name }) =>
      list(kind, namespace).find((object) => textAt(objectAt(object, "metadata"), "name") === name),
    onChange: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    add: (object) => {
      objects.push(object);
      const group = textAt(object, "apiVersion").split("/")[0] ?? "";
      for (const listener of listeners) listener({ kind: { group, resource: resourceOf(object) }, object });
    },
  };
}
