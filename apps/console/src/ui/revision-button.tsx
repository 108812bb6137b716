import { m } from "../messages/en.ts";

interface RevisionButtonProps {
  readonly revision: number;
  readonly isShown: boolean;
  readonly isCurrent: boolean;
  readonly onClick: () => void;
}

/** The number of a revision in a list; shows its changes when pressed. */
export function RevisionButton({ revision, isShown, isCurrent, onClick }: RevisionButtonProps) {
  return (
    <button type="button" className="link num font-medium" aria-pressed={isShown} onClick={onClick}>
      {revision}
      {isCurrent && ` (${m.deployment.current})`}
    </button>
  );
}
