import { useQuery } from "@tanstack/react-query";
import { fetchValue } from "../../api/client.ts";

/** The counts and newest facts of the platform, in one response of bounded size. */
export function useOverview() {
  return useQuery({ queryKey: ["overview"], queryFn: ({ signal }) => fetchValue("getOverview", { signal }) });
}
