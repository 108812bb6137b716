import { Lightbulb } from "lucide-react";
import { ApiError } from "../../api/errors.ts";
import { percent } from "../../lib/format.ts";
import { m } from "../../messages/en.ts";
import { ErrorView, Violations } from "../../ui/states.tsx";
import { Notice } from "../../ui/status.tsx";
import { Candidates, type Candidate } from "./candidates.tsx";

interface Evidence {
  readonly target_availability?: number;
  readonly best?: { readonly availability?: number; readonly replicas?: number };
  readonly remedies?: readonly { readonly kind: string; readonly text: string }[];
  readonly clusters?: readonly Candidate[];
}

/** The reasons of a rejected plan, and the changes that would make one possible. */
export function Refusal({ error }: { readonly error: unknown }) {
  if (
    !(error instanceof ApiError) ||
    error.status >= 500 ||
    error.status === 0 ||
    error.status === 401 ||
    error.status === 403 ||
    error.status === 429
  )
    return <ErrorView error={error} />;
  const evidence = (error.problem.evidence ?? {}) as Evidence;
  if (error.violations.length > 0 && evidence.remedies === undefined) return <Violations error={error} />;
  return (
    <div className="space-y-4">
      <Notice tone="bad" title={m.plan.refused}>
        <p className="break-words">{error.message}</p>
        {evidence.best?.availability !== undefined && <p>{m.plan.best(percent(evidence.best.availability))}</p>}
        {evidence.remedies !== undefined && (
          <ul className="mt-2 space-y-1">
            {evidence.remedies.map(({ text }) => (
              <li key={text} className="flex gap-1.5">
                <Lightbulb size={14} className="mt-0.5 shrink-0 text-warn" aria-hidden /> {text}
              </li>
            ))}
          </ul>
        )}
      </Notice>
      {evidence.clusters !== undefined && <Candidates clusters={evidence.clusters} />}
    </div>
  );
}
