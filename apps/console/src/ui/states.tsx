import type { UseQueryResult } from "@tanstack/react-query";
import { CloudOff, Inbox, Lock, RefreshCw, SearchX, TriangleAlert, type LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import { ApiError } from "../api/errors.ts";
import { m } from "../messages/en.ts";
import { Button } from "./button.tsx";

export function Loading({ rows = 5, label = m.common.loading }: { readonly rows?: number; readonly label?: string }) {
  return (
    <div role="status" aria-label={label} className="space-y-2.5 p-4">
      {Array.from({ length: rows }, (_, index) => (
        <div key={index} className="skeleton h-4" style={{ width: `${92 - ((index * 17) % 48)}%` }} />
      ))}
    </div>
  );
}

interface EmptyProps {
  readonly title: string;
  readonly text?: string | undefined;
  readonly icon?: LucideIcon;
  readonly children?: ReactNode;
}

export function Empty({ title, text, icon: Icon = Inbox, children }: EmptyProps) {
  return (
    <div className="flex flex-col items-center gap-1.5 px-4 py-10 text-center">
      <Icon size={26} className="text-ink-3" aria-hidden />
      <p className="font-medium">{title}</p>
      {text !== undefined && <p className="max-w-prose text-ink-2">{text}</p>}
      {children !== undefined && <div className="mt-2 flex flex-wrap justify-center gap-2">{children}</div>}
    </div>
  );
}

function iconOf(error: unknown): LucideIcon {
  if (!(error instanceof ApiError)) return TriangleAlert;
  if (error.isOffline) return CloudOff;
  if (error.status === 401 || error.status === 403) return Lock;
  return error.status === 404 ? SearchX : TriangleAlert;
}

/** What failed, why, and what to do, for every kind of error response. */
export function ErrorView({ error, retry }: { readonly error: unknown; readonly retry?: (() => void) | undefined }) {
  const { title, text } = m.errors.describe(error);
  const correlationId = error instanceof ApiError ? error.problem.correlationId : undefined;
  return (
    <div role="alert">
      <Empty icon={iconOf(error)} title={title} text={text}>
        {retry && (
          <Button icon={RefreshCw} onClick={retry}>
            {m.common.retry}
          </Button>
        )}
        {correlationId !== undefined && (
          <p className="w-full text-sm text-ink-3">
            {m.errors.correlation} <code>{correlationId}</code>
          </p>
        )}
      </Empty>
    </div>
  );
}

/** Shows a query: its value, else the error, else that it loads. A value stays visible while it is fetched again. */
export function Loaded<T>({
  query,
  rows,
  children,
}: {
  readonly query: UseQueryResult<T>;
  readonly rows?: number;
  readonly children: (value: T) => ReactNode;
}) {
  if (query.data !== undefined) return children(query.data);
  if (query.isError) return <ErrorView error={query.error} retry={() => void query.refetch()} />;
  return <Loading {...(rows === undefined ? {} : { rows })} />;
}

/** The violations of a rejected request, each with its place and its fix. */
export function Violations({ error }: { readonly error: unknown }) {
  if (error == null) return null;
  const { title, text } = m.errors.describe(error);
  const violations = error instanceof ApiError ? error.violations : [];
  return (
    <div role="alert" className="rounded-lg border border-bad bg-bad-soft px-3.5 py-2.5 text-sm">
      <p className="font-medium text-bad">{title}</p>
      {violations.length === 0 ? (
        <p className="mt-0.5 break-words text-ink-2">{text}</p>
      ) : (
        <ul className="mt-1 space-y-1">
          {violations.map(({ path, message, fix }) => (
            <li key={path + message} className="break-words">
              <code className="font-medium">{path}</code>: {message}
              {fix !== undefined && <span className="text-ink-2">; {fix}</span>}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
