import type { ReactNode } from "react";
import { m } from "../messages/en.ts";
import { Button } from "./button.tsx";
import { Empty, ErrorView, Loading } from "./states.tsx";

/** One page of a list. */
export interface Listed<T> {
  readonly rows: readonly T[];
  readonly next: string | undefined;
}

interface Pages<T> {
  readonly data: { readonly pages: readonly Listed<T>[] } | undefined;
  readonly error: unknown;
  readonly hasNextPage: boolean;
  readonly isFetchingNextPage: boolean;
  readonly fetchNextPage: () => unknown;
  readonly refetch: () => unknown;
}

/** A list that is loaded page by page. */
export function MoreTable<T>({
  query,
  label,
  children,
  empty = <Empty title={m.common.noMatch} />,
}: {
  readonly query: Pages<T>;
  readonly label: string;
  readonly children: (rows: readonly T[]) => ReactNode;
  /** Shown instead of an empty list. */
  readonly empty?: ReactNode;
}) {
  if (query.data === undefined)
    return query.error === null ? (
      <Loading rows={8} label={label} />
    ) : (
      <ErrorView error={query.error} retry={() => void query.refetch()} />
    );
  const rows = query.data.pages.flatMap((page) => page.rows);
  if (rows.length === 0 && !query.hasNextPage) return empty;
  return (
    <>
      {children(rows)}
      {query.hasNextPage && (
        <div className="no-print flex justify-center border-t border-line p-2">
          <Button busy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
            {m.common.more}
          </Button>
        </div>
      )}
    </>
  );
}
