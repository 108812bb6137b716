import { call } from "../../api/client.ts";
import type { Deployment, ValueOf } from "../../api/contract.ts";
import { ApiError } from "../../api/errors.ts";
import { changedFields, type ChangedField } from "../../lib/changed-fields.ts";
import { draftOf, type Draft } from "../../lib/draft.ts";
import { fetchDeployment, type Versioned } from "../deployments/deployment-queries.ts";

type PlanChange = NonNullable<ValueOf<"createPlan">["changes"]>[number];

/** Why the server did not apply a plan: it is not what the page has shown any more. */
export interface Outdated {
  /** What someone else changed in the deployment. */
  readonly theirs: readonly ChangedField[];
  /** What changed in the plan. */
  readonly moved: readonly PlanChange[];
  /** The deployment as it is now; undefined for a new one. */
  readonly base: Versioned<Deployment> | undefined;
}

interface ApplyRequest {
  readonly draft: Draft;
  readonly digest: string;
  readonly reason: string | undefined;
  /** The deployment that the draft started from. */
  readonly base: Versioned<Deployment> | undefined;
}

/** Applies exactly this plan to the deployment as the page has shown it. Returns what has changed instead, if something has. */
export async function applyPlan(request: ApplyRequest): Promise<Outdated | undefined> {
  const { draft, digest, reason, base } = request;
  try {
    await call("createDeployment", {
      query: { reason },
      body: { ...draft, plan_digest: digest },
      ifMatch: base?.etag,
    });
    return undefined;
  } catch (error) {
    if (!(error instanceof ApiError && error.isConflict)) throw error;
    const latest = base && (await fetchDeployment(base.value.key));
    const theirs = base && latest ? changedFields(draftOf({ ...base.value }), draftOf({ ...latest.value })) : [];
    // The version also changes with the outcome of a roll-out, and no change would be overwritten.
    const isSame = error.status === 412 && latest !== undefined && theirs.length === 0 && latest.etag !== base?.etag;
    if (isSame) return applyPlan({ ...request, base: latest });
    return { theirs, moved: movedIn(error), base: latest };
  }
}

function movedIn({ problem }: ApiError): readonly PlanChange[] {
  const { reason, changes } = (problem.evidence ?? {}) as {
    readonly reason?: string;
    readonly changes?: readonly PlanChange[];
  };
  return reason === "outdated" ? (changes ?? []) : [];
}
