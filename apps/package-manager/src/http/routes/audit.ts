import { omitUndefined } from "@oaas/contracts/rest";
import type { AuditReader } from "../../use-cases.ts";
import { json, type HandlersOf } from "../handler.ts";
import { pageRequestOf } from "./parameters.ts";
import { pageHeaders } from "./replies.ts";

/** Handlers of the audit trail. */
export function auditHandlers(audit: AuditReader): HandlersOf<"audit"> {
  return {
    listAudit: async ({ query }) => {
      const { actor, action, target, outcome } = query;
      const since = query.since === undefined ? undefined : Date.parse(query.since);
      const page = await audit.list({
        ...pageRequestOf(query),
        ...omitUndefined({ actor, action, target, outcome, since }),
      });
      return json(page.items, pageHeaders(page));
    },
  };
}
