import { X } from "lucide-react";
import { useEffect, useId, useRef, useState, type ReactNode } from "react";
import { m } from "../messages/en.ts";
import { Button, IconButton } from "./button.tsx";
import { Violations } from "./states.tsx";

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
  readonly wide?: boolean;
}

/** A modal dialog of the browser: it traps the focus and needs no style of its own, which the policy would block. */
export function Dialog({ title, onClose, children, wide = false }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const dialog = ref.current;
    dialog?.showModal();
    return () => dialog?.close();
  }, []);
  return (
    <dialog
      ref={ref}
      aria-labelledby={id}
      // React's strict mode opens it twice: the event of the first closing arrives when it is open again.
      onClose={() => ref.current?.open !== true && onClose()}
      onClick={(event) => event.target === ref.current && onClose()}
      className={`m-auto max-h-[88dvh] w-[calc(100vw-2rem)] overflow-auto rounded-xl border border-line bg-raised p-0 text-ink shadow-[var(--shadow-lg)] ${wide ? "max-w-4xl" : "max-w-lg"}`}
    >
      <div className="flex items-center justify-between gap-4 border-b border-line px-5 py-3">
        <h2 id={id} className="text-lg font-semibold">
          {title}
        </h2>
        <IconButton label={m.common.close} icon={X} onClick={onClose} />
      </div>
      <div className="px-5 py-4">{children}</div>
    </dialog>
  );
}

interface ConfirmProps {
  readonly title: string;
  /** What happens, and what is destroyed. */
  readonly children: ReactNode;
  readonly action: string;
  /** A name that must be typed, for destructive actions. */
  readonly typed?: string;
  /** Whether a reason can be stated; it is stored in the history. */
  readonly withReason?: boolean;
  readonly onConfirm: (reason: string | undefined) => Promise<unknown>;
  readonly onClose: () => void;
}

/** Asks before an action, and stays open with the reason when the action is rejected. */
export function ConfirmDialog({
  title,
  children,
  action,
  typed,
  withReason = false,
  onConfirm,
  onClose,
}: ConfirmProps) {
  const [name, setName] = useState("");
  const [reason, setReason] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const ids = { name: useId(), reason: useId() };
  const confirm = async (): Promise<void> => {
    setBusy(true);
    setError(undefined);
    try {
      await onConfirm(reason.trim() === "" ? undefined : reason.trim());
      onClose();
    } catch (cause) {
      setError(cause);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          void confirm();
        }}
      >
        <div className="space-y-2 text-ink-2">{children}</div>
        {withReason && (
          <label htmlFor={ids.reason} className="block space-y-1">
            <span className="text-sm font-medium">{m.common.reason}</span>
            <input
              id={ids.reason}
              className="field"
              value={reason}
              onChange={(event) => setReason(event.target.value)}
            />
          </label>
        )}
        {typed !== undefined && (
          <label htmlFor={ids.name} className="block space-y-1">
            <span className="text-sm font-medium">
              {m.common.typeName} <code className="select-all">{typed}</code>
            </span>
            <input
              id={ids.name}
              className="field font-mono"
              autoComplete="off"
              spellCheck={false}
              value={name}
              onChange={(event) => setName(event.target.value)}
            />
          </label>
        )}
        <Violations error={error} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{m.common.cancel}</Button>
          <Button
            type="submit"
            variant={typed === undefined ? "primary" : "danger"}
            busy={busy}
            disabled={typed !== undefined && name !== typed}
          >
            {action}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
