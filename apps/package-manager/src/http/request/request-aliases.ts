import type { ParsedUrlQuery } from "node:querystring";
import { invalidArgumentMessage, isFault, type Fault, type Violation } from "@oaas/foundation";
import { parseDocument, type BodyHeaders } from "./read-request.ts";

/*
 * Clusters have two names in requests: `env` is an alias of `cluster`, and `target_envs` of `target_clusters`. Use cases know the latter
 * only, so a violation they find is reported with the name that the caller sent.
 */

const QUERY_PATH = "$.cluster";
const BODY_PATH = /^\$(\.deployment)?\.target_clusters\[(\d+)\]$/;

interface RequestContent {
  readonly query: ParsedUrlQuery;
  readonly body: Buffer;
}

type Sent = Targets & { readonly deployment?: Targets; readonly documents?: readonly Item[] };

interface Item {
  readonly deployment?: Targets & { readonly key?: string };
}

/** As sent: a list may be null, which means absent. */
interface Targets {
  readonly target_envs?: readonly string[] | null;
  readonly target_clusters?: readonly string[] | null;
}

/** The same fault, with the paths as the caller spelled them. */
export function withSentPaths(thrown: unknown, headers: BodyHeaders, { query, body }: RequestContent): unknown {
  const document = parseOnce(body, headers);
  if (!isFault(thrown, "partial-failure")) return withSent(thrown, query, document);
  // The rejected documents of a set.
  const parts = thrown.detail.parts.map(({ name, fault }) => {
    const sent = () => document().documents?.find((each) => name === `deployment/${each.deployment?.key}`) ?? {};
    return { name, fault: withSent(fault, query, () => sent().deployment ?? {}) as Fault };
  });
  return thrown.with({ detail: { ...thrown.detail, parts } });
}

function withSent(thrown: unknown, query: ParsedUrlQuery, document: () => Sent): unknown {
  if (!isFault(thrown, "invalid-argument")) return thrown;
  const violations = thrown.violations.map((each) => ({ ...each, path: sentPath(each, query, document) }));
  if (violations.every(({ path }, index) => path === thrown.violations[index]?.path)) return thrown;
  const message = invalidArgumentMessage(thrown.detail.subject ?? "the request", violations);
  return thrown.with({ detail: { ...thrown.detail, violations }, message });
}

function parseOnce(body: Buffer, headers: BodyHeaders): () => Sent {
  let document: Sent | undefined;
  return () => (document ??= parseDocument(body, headers) as Sent);
}

function sentPath({ path }: Violation, query: ParsedUrlQuery, document: () => Sent): string {
  if (path === QUERY_PATH) {
    const { cluster, env } = query;
    return cluster === undefined && env !== undefined ? "$.env" : path;
  }
  const [, within, index] = BODY_PATH.exec(path) ?? [];
  if (index === undefined) return path;
  const sent = document();
  const { target_envs, target_clusters } = (within === undefined ? sent : sent.deployment) as Targets;
  const [member, names] = target_envs?.length
    ? (["target_envs", target_envs] as const)
    : (["target_clusters", target_clusters ?? []] as const);
  // Use cases count each name once.
  const name = [...new Set(names)][Number(index)];
  return name === undefined ? path : `$${within ?? ""}.${member}[${names.indexOf(name)}]`;
}
