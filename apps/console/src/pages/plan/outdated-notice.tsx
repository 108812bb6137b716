import { RotateCcw } from "lucide-react";
import { m } from "../../messages/en.ts";
import { Button } from "../../ui/button.tsx";
import { Changes } from "../../ui/changes.tsx";
import { Notice } from "../../ui/status.tsx";
import type { Outdated } from "./apply-plan.ts";

const text = m.plan.outdated;

/** What has changed since the plan was shown; the plan below is the new one. */
export function OutdatedNotice({
  outdated: { theirs, moved },
  onTakeTheirs,
}: {
  readonly outdated: Outdated;
  readonly onTakeTheirs: () => void;
}) {
  return (
    <div role="alert" className="mb-4">
      <Notice tone="warn" title={text.title}>
        <div className="space-y-3">
          {theirs.length > 0 && (
            <>
              <p>{text.theirs}</p>
              <Changes changes={theirs} />
              <p>{text.yours}</p>
              <Button icon={RotateCcw} onClick={onTakeTheirs}>
                {text.takeTheirs}
              </Button>
            </>
          )}
          {moved.length > 0 && (
            <>
              <p>{text.moved}</p>
              <Changes changes={moved} />
            </>
          )}
          <p>{text.next}</p>
        </div>
      </Notice>
    </div>
  );
}
