import type { JsonObject } from "@oaas/kube-core";
import { textAt } from "../../src/kinds/json-access.ts";
import { ACCESS_CASES, ACCESS_OBJECTS } from "./access-cases.ts";
import type { SendRequest } from "./real-server.ts";

/** A request and whether the real server allows it. */
export interface RecordedAccess {
  readonly user: string;
  readonly groups: readonly string[];
  readonly wants: JsonObject;
  readonly isAllowed: boolean;
}

const BASE = "/apis/rbac.authorization.k8s.io/v1/";
const REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews";

/** Creates the roles and bindings and checks every case. */
export async function recordAccess(send: SendRequest): Promise<RecordedAccess[]> {
  for (const object of ACCESS_OBJECTS) {
    const { namespace } = object["metadata"] as { namespace?: string };
    const resource = `${textAt(object, "kind").toLowerCase()}s`;
    const path = `${BASE}${namespace === undefined ? "" : `namespaces/${namespace}/`}${resource}`;
    const { code, body } = await send("POST", path, { body: object });
    if (code !== 201 && code !== 409) throw new Error(JSON.stringify(body));
  }
  const recorded: RecordedAccess[] = [];
  for (const { user, groups = [], wants } of ACCESS_CASES) {
    const review = {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SubjectAccessReview",
      spec: { user, groups: [...groups], ...wants },
    };
    const { body } = await send("POST", REVIEWS, { body: review });
    const { allowed } = body["status"] as { allowed: boolean };
    recorded.push({ user, groups, wants, isAllowed: allowed });
  }
  return recorded;
}

/** The table as the text of its file: one line per request. */
export function accessText(cases: readonly RecordedAccess[]): string {
  const note = "Made from the real kube-apiserver by `npm run kindgen`; not edited by hand.";
  return `{"note":${JSON.stringify(note)},\n"cases":[\n${cases.map((each) => JSON.stringify(each)).join(",\n")}\n]}\n`;
}
