import { parse } from "node:querystring";
import { invalidArgumentMessage, isFault, type Violation } from "@oaas/foundation";
import { documentIn, type Sent } from "./read-request.ts";

/** What clusters are complained about by: ours is one of two words that a caller may have used. */
const QUERIED = "$.cluster";
const TARGETED = /^\$(\.deployment)?\.target_clusters\[(\d+)\]$/;

/** The same fault of a request that could be read, said of the words and the places that were sent. */
export function inSentWords(thrown: unknown, sent: Sent & { readonly query: string }): unknown {
  if (!isFault(thrown, "invalid-argument")) return thrown;
  const violations = thrown.violations.map((each) => ({ ...each, path: sentPath(each, sent) }));
  if (violations.every(({ path }, index) => path === thrown.violations[index]?.path)) return thrown;
  const { subject = "the request" } = thrown.detail;
  const message = invalidArgumentMessage(subject, violations);
  return thrown.with({ detail: { ...thrown.detail, violations }, message });
}

function sentPath({ path }: Violation, sent: Sent & { readonly query: string }): string {
  if (path === QUERIED) {
    const { cluster, env } = parse(sent.query);
    return cluster === undefined && env !== undefined ? "$.env" : path;
  }
  const [, within, index] = TARGETED.exec(path) ?? [];
  if (index === undefined) return path;
  const document = documentIn(sent) as { readonly deployment?: unknown };
  const { target_envs = [], target_clusters = [] } = (within === undefined ? document : document.deployment) as Targets;
  const [word, names] =
    target_envs.length > 0 ? ["target_envs", target_envs] : (["target_clusters", target_clusters] as const);
  // Each is counted once, wherever and however often it stands.
  const name = [...new Set(names)][Number(index)];
  return name === undefined ? path : `$${within ?? ""}.${word}[${names.indexOf(name)}]`;
}

interface Targets {
  readonly target_envs?: readonly string[];
  readonly target_clusters?: readonly string[];
}
