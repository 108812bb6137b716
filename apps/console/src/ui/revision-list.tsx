import type { UseQueryResult } from "@tanstack/react-query";
import { Undo2 } from "lucide-react";
import { useState, type ReactNode } from "react";
import { useCan } from "../api/session.ts";
import { m } from "../messages/en.ts";
import { Button } from "./button.tsx";
import { ConfirmDialog } from "./dialog.tsx";
import { Panel, Table, type TableColumn } from "./page.tsx";
import { Loaded } from "./states.tsx";
import { Time } from "./time.tsx";
import { useUrlState } from "./use-url.ts";

const text = m.revisions;

interface Revision {
  readonly revision: number;
  readonly author?: string | null | undefined;
  readonly reason?: string | null | undefined;
  readonly created_at: string;
}

interface RevisionListProps<T> {
  /** The object that has the revisions. */
  readonly name: string;
  readonly revisions: UseQueryResult<readonly T[]>;
  readonly current: number | undefined;
  /** Columns behind the number of the revision. */
  readonly columns?: readonly TableColumn<T>[];
  readonly rollBackText: string;
  /** The differences between two revisions. */
  readonly renderDiff: (from: number, to: number) => ReactNode;
  readonly onRollBack: (body: { readonly revision: number; readonly reason?: string }) => Promise<void>;
}

/** The revisions of an object, the changes of the one in the address, and the way back to each. */
export function RevisionList<T extends Revision>({
  name,
  revisions,
  current,
  columns = [],
  rollBackText,
  renderDiff,
  onRollBack,
}: RevisionListProps<T>) {
  const [read, write] = useUrlState();
  const [target, setTarget] = useState<number>();
  const canDeploy = useCan("deployer");
  const shown = Number(read("revision", String(current ?? 0)));
  return (
    <div className="space-y-4">
      <Panel flush>
        <Loaded query={revisions}>
          {(list) => (
            <Table
              label={text.title}
              rows={list}
              keyOf={({ revision }) => String(revision)}
              columns={[
                {
                  title: m.terms.revision,
                  cell: ({ revision }) => (
                    <button
                      type="button"
                      className="link num font-medium"
                      aria-pressed={revision === shown}
                      onClick={() => write({ revision: String(revision) })}
                    >
                      {revision}
                      {revision === current && ` (${text.current})`}
                    </button>
                  ),
                },
                ...columns,
                { title: m.terms.author, cell: ({ author }) => author, wide: true },
                { title: m.terms.reason, cell: ({ reason }) => reason ?? "–", wide: true },
                { title: m.terms.time, cell: ({ created_at: at }) => <Time at={at} /> },
                {
                  title: m.terms.actions,
                  cell: ({ revision }) =>
                    canDeploy &&
                    revision !== current && (
                      <Button icon={Undo2} onClick={() => setTarget(revision)}>
                        {m.common.rollBack}
                      </Button>
                    ),
                },
              ]}
            />
          )}
        </Loaded>
      </Panel>
      {shown > 1 && renderDiff(shown - 1, shown)}
      {target !== undefined && (
        <ConfirmDialog
          title={text.rollBackTitle(name, target)}
          action={m.common.rollBack}
          withReason
          onClose={() => setTarget(undefined)}
          onConfirm={(reason) => onRollBack({ revision: target, ...(reason && { reason }) })}
        >
          <p>{rollBackText}</p>
          {current !== undefined && renderDiff(current, target)}
        </ConfirmDialog>
      )}
    </div>
  );
}
