import { useCallback } from "react";
import { useSearchParams } from "wouter";

/** State in the address: links and the back button restore it. Empty values are left out. */
export function useUrlState(): readonly [
  (name: string, fallback?: string) => string,
  (changes: Readonly<Record<string, string>>, replace?: boolean) => void,
] {
  const [params, setParams] = useSearchParams();
  const read = (name: string, fallback = ""): string => params.get(name) ?? fallback;
  const write = useCallback(
    (changes: Readonly<Record<string, string>>, replace = false) =>
      setParams(
        (previous) => {
          const next = new URLSearchParams(previous);
          for (const [name, value] of Object.entries(changes)) {
            if (value === "") next.delete(name);
            else next.set(name, value);
          }
          return next;
        },
        { replace },
      ),
    [setParams],
  );
  return [read, write];
}
