import {
  canonicalJson,
  equalJson,
  type KubeObject,
  type LabelSelector,
  ownerReferenceTo,
  type Stored,
} from "@oaas/kube-core";
import { create, remove, update, type Step } from "../loop/decision.ts";
import { REVISIONS } from "../objects/resources.ts";
import type { ControllerRevision, PodTemplate, Texts } from "../objects/typed.ts";

type Revisions = readonly Stored<ControllerRevision>[];

export type RevisedWorkload = Stored<KubeObject> & {
  readonly spec: {
    readonly template: PodTemplate;
    readonly selector?: LabelSelector;
    readonly revisionHistoryLimit?: number;
  };
};

/** The revision of the current template, or the step that creates it. */
export type UpdateRevision = Stored<ControllerRevision> | Step;

export function isStep(found: UpdateRevision): found is Step {
  return "do" in found;
}

/** The history of a StatefulSet or DaemonSet: its newest revision has the current template. */
export function findOrCreateRevision(owner: RevisedWorkload, revisions: Revisions, hashLabel: string): UpdateRevision {
  const sorted = compareRevisions(revisions);
  const newest = sorted.at(-1);
  const data = { spec: { template: { $patch: "replace", ...owner.spec.template } } };
  const equal = sorted.findLast((one) => equalJson(one.data, data));
  const next = (newest?.revision ?? 0) + 1;
  if (equal) return equal === newest ? equal : update(REVISIONS, { ...equal, revision: next });
  const hash = computeTemplateHash(owner.spec.template);
  const { namespace, name, annotations } = owner.metadata;
  const labels: Texts = { ...owner.spec.template.metadata?.labels, [hashLabel]: hash };
  return create(REVISIONS, {
    apiVersion: REVISIONS.apiVersion,
    kind: REVISIONS.kind,
    metadata: {
      name: `${name}-${hash}`,
      ...(namespace === undefined ? {} : { namespace }),
      labels,
      ...(annotations === undefined ? {} : { annotations }),
      ownerReferences: [ownerReferenceTo(owner)],
    },
    data,
    revision: next,
  });
}

/** Without the patch marker: the template of pods. */
export function getTemplate({ data }: ControllerRevision): PodTemplate {
  const { $patch: _, ...template } = { $patch: "", ...data?.spec?.template };
  return template;
}

/** Unused revisions beyond the history limit. */
export function createTruncationSteps(
  owner: RevisedWorkload,
  revisions: Revisions,
  live: ReadonlySet<string | undefined>,
): Step[] {
  const spare = compareRevisions(revisions).filter(({ metadata }) => !live.has(metadata.name));
  const surplus = spare.length - (owner.spec.revisionHistoryLimit ?? 10);
  return surplus <= 0 ? [] : spare.slice(0, surplus).map((revision) => remove(REVISIONS, revision));
}

function compareRevisions(revisions: Revisions): Revisions {
  return [...revisions].sort((a, b) => a.revision - b.revision);
}

/** Characters that form no words, as in generated names of Kubernetes. */
const ALPHABET = "bcdfghjklmnpqrstvwxz2456789";

/** FNV-1a of 32 bits. The real controllers hash a dump of Go structures, so the values differ, but not their form. */
export function computeTemplateHash(template: PodTemplate, collisions = 0): string {
  let hash = 0x811c9dc5;
  for (const code of `${canonicalJson(template)}${collisions === 0 ? "" : collisions}`) {
    hash ^= code.codePointAt(0) ?? 0;
    hash = Math.imul(hash, 0x01000193) >>> 0;
  }
  return encodeSafe(String(hash));
}

/** A number's digits as letters, as the real controllers write hashes in names. */
function encodeSafe(digits: string): string {
  return digits.replaceAll(/\d/g, (digit) => ALPHABET[digit.charCodeAt(0) % ALPHABET.length] ?? "");
}
