import type { Clock, Ids } from "@oaas/foundation";
import type { Gate, Grants, Questions } from "../request/router.ts";
import { AccessGate } from "./access-gate.ts";
import { AccessGrants } from "./grants.ts";
import { accessQuestions } from "./access-questions.ts";
import { Authenticator } from "./authenticator.ts";
import { Authorizer, type AccessObjects } from "./authorizer.ts";
import { ServiceAccountTokens } from "./service-account-tokens.ts";
import { AUTHENTICATED, MASTERS, type User } from "./user.ts";

/** Whoever may do everything. */
export const ADMINISTRATOR: User = { name: "admin", uid: "admin", groups: [MASTERS, AUTHENTICATED] };

export interface AccessOptions {
  readonly clock: Clock;
  readonly ids: Ids;
  /** Signs tokens of service accounts; whoever has it can make them. */
  readonly key: string;
  /** Users by their token. */
  readonly users?: ReadonlyMap<string, User>;
  /** Who everybody is that brings no credentials: the administrator on a server that is open, by default nobody in particular. */
  readonly withoutCredentials?: User;
  /** Asked when the first request comes: there is no server yet when its gate is made. */
  readonly objects: () => AccessObjects;
}

/** Who is asking and what they may do, and the answers to questions about it. */
export interface AccessControl {
  readonly gate: Gate;
  readonly questions: Questions;
  readonly grants: Grants;
}

/** Access by tokens and roles. */
export function accessControl(options: AccessOptions): AccessControl {
  let made: AccessControl | undefined;
  const control = (): AccessControl => (made ??= assembled(options));
  return {
    gate: { refusal: (request, attempt) => control().gate.refusal(request, attempt) },
    questions: { answer: (question) => control().questions.answer(question) },
    grants: { refusal: (request, grant) => control().grants.refusal(request, grant) },
  };
}

function assembled({ clock, ids, key, users = new Map(), withoutCredentials, objects }: AccessOptions): AccessControl {
  const tokens = new ServiceAccountTokens(key);
  const cluster = objects();
  const read = cluster.get.bind(cluster);
  const authenticator = new Authenticator({
    clock,
    users,
    tokens,
    read,
    ...(withoutCredentials === undefined ? {} : { withoutCredentials }),
  });
  const authorizer = new Authorizer(cluster);
  const gate = new AccessGate(authenticator, authorizer);
  return {
    gate,
    questions: accessQuestions({ clock, ids, gate, authenticator, authorizer, tokens, read }),
    grants: new AccessGrants(gate, authorizer),
  };
}
