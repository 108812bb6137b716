import { err, ok, type Result } from "@oaas/foundation";
import type { JsonObject, Status } from "@oaas/kube-core";
import { metadataOf, nameOf } from "../../admission/metadata.ts";
import { alreadyExists } from "../../request/response/status-errors.ts";
import type { WriteOptions } from "../../request/query/options.ts";
import type { Written } from "../../store/object-store.ts";
import { objectKey } from "../../store/stored-object.ts";
import { prepareNewObject } from "./new-object.ts";
import { storeKindOf, type Target, type VerbContext } from "../verb-context.ts";

/** A generated name may be taken: another is generated, a limited number of times. */
const NAME_ATTEMPTS = 8;

/** Creates an admitted object. */
export async function createObject(
  context: VerbContext,
  target: Target,
  admitted: JsonObject,
  options: WriteOptions,
): Promise<Result<Written, Status>> {
  const isGenerated = nameOf(admitted) === "" && metadataOf(admitted)["generateName"] !== undefined;
  for (let attempt = 1; ; attempt += 1) {
    const created = prepareNewObject(context, target, admitted, options);
    if (!created.ok) return created;
    const name = nameOf(created.value);
    const written = await context.store.write(storeKindOf(target.kind), objectKey(target.namespace, name), (live) => {
      if (live !== undefined)
        return err(alreadyExists(target.kind, name, metadataOf(live.object)["deletionTimestamp"] !== undefined));
      return ok(options.isDryRun ? { keep: true, response: created.value } : { put: created.value });
    });
    if (written.ok || !isGenerated || written.error.reason !== "AlreadyExists" || attempt === NAME_ATTEMPTS)
      return written;
  }
}
