import { useQuery } from "@tanstack/react-query";
import { send } from "../../api/client.ts";

/** The counts and newest facts of the platform, in one response of bounded size. */
export interface Overview {
  readonly deployments: {
    readonly total: number;
    readonly by_condition: Readonly<Record<string, number>>;
    readonly paused: number;
  };
  readonly class_runtimes: { readonly total: number; readonly by_condition: Readonly<Record<string, number>> };
  readonly packages: { readonly total: number; readonly disabled: number };
  readonly clusters: {
    readonly total: number;
    readonly by_status: Readonly<Record<string, number>>;
    readonly cordoned: number;
  };
  readonly operations: { readonly running: number; readonly failed: number; readonly items: readonly OperationItem[] };
  readonly violations: { readonly total: number; readonly items: readonly ViolationItem[] };
  readonly recent_changes: readonly RecentChange[];
}

export interface OperationItem {
  readonly id: string;
  readonly deployment_key: string;
  readonly kind: string;
  readonly state: string;
  readonly done: number;
  readonly total: number;
  readonly message: string | null;
  readonly started_at?: string;
  readonly ended_at?: string | null;
}

interface ViolationItem {
  readonly id: string;
  readonly cluster: string;
  readonly class_key: string;
  readonly component: string;
  readonly requirement: string;
  readonly target: number;
  readonly measured: number;
  readonly message: string;
}

export interface RecentChange {
  readonly kind: "deployment" | "package";
  readonly key: string;
  readonly revision: number;
  readonly author: string;
  readonly reason: string | null;
  readonly at: string;
  readonly outcome: string | null;
}

export function useOverview() {
  return useQuery({
    queryKey: ["overview"],
    queryFn: async ({ signal }) => (await send<Overview>("GET", "/api/v1/overview", { signal })).value,
  });
}
