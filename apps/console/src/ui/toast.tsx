import { CircleCheck, CircleX, X } from "lucide-react";
import { createContext, useCallback, useContext, useMemo, useState, type ReactNode } from "react";
import { m } from "../messages/en.ts";
import { IconButton } from "./button.tsx";

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly failed: boolean;
}

interface Toasts {
  readonly done: (text: string) => void;
  readonly failed: (error: unknown) => void;
}

const ToastContext = createContext<Toasts>({ done: () => undefined, failed: () => undefined });
const SHOWN_MS = 6000;
let nextId = 0;

/** Short messages after an action. Errors stay until they are closed. */
export function ToastProvider({ children }: { readonly children: ReactNode }) {
  const [toasts, setToasts] = useState<readonly Toast[]>([]);
  const close = useCallback((id: number) => setToasts((all) => all.filter((each) => each.id !== id)), []);
  const add = useCallback(
    (text: string, failed: boolean) => {
      const id = nextId++;
      setToasts((all) => [...all.slice(-3), { id, text, failed }]);
      if (!failed) setTimeout(() => close(id), SHOWN_MS);
    },
    [close],
  );
  const value = useMemo<Toasts>(
    () => ({
      done: (text) => add(text, false),
      failed: (error) => {
        const { title, text } = m.errors.describe(error);
        add(`${title}: ${text}`, true);
      },
    }),
    [add],
  );
  return (
    <ToastContext value={value}>
      {children}
      <div
        aria-live="polite"
        role="status"
        className="no-print fixed right-4 bottom-4 z-50 flex w-[min(26rem,calc(100vw-2rem))] flex-col gap-2"
      >
        {toasts.map(({ id, text, failed }) => (
          <div
            key={id}
            className="flex items-start gap-2 rounded-lg border border-line bg-raised px-3.5 py-2.5 shadow-[var(--shadow-lg)]"
          >
            {failed ? (
              <CircleX size={16} className="mt-0.5 shrink-0 text-bad" aria-hidden />
            ) : (
              <CircleCheck size={16} className="mt-0.5 shrink-0 text-ok" aria-hidden />
            )}
            <p className="min-w-0 flex-1 text-sm break-words">{text}</p>
            <IconButton label={m.common.close} icon={X} className="-my-1 size-6!" onClick={() => close(id)} />
          </div>
        ))}
      </div>
    </ToastContext>
  );
}

export function useToasts(): Toasts {
  return useContext(ToastContext);
}
