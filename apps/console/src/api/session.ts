import { useQuery, useQueryClient } from "@tanstack/react-query";
import { ApiError } from "./errors.ts";
import { call, setCsrfToken } from "./client.ts";
import type { Session } from "./contract.ts";

export type Role = NonNullable<Session["caller"]>["role"];
const RANK: Readonly<Record<Role, number>> = { public: 0, viewer: 1, deployer: 2, admin: 3 };

const SESSION_KEY = ["session"] as const;

async function readSession(signal?: AbortSignal): Promise<Session> {
  const { value } = await call("getSession", { signal });
  setCsrfToken(value.csrf_token);
  return value;
}

export function useSession() {
  return useQuery({ queryKey: SESSION_KEY, queryFn: ({ signal }) => readSession(signal), staleTime: Infinity });
}

/** Whether the caller has a role, so that the console offers only what the server allows. */
export function useCan(role: Role): boolean {
  const { data } = useSession();
  return data?.caller != null && RANK[data.caller.role] >= RANK[role];
}

/** Signs in and out. The token leaves memory with the request; the cookie is not readable by scripts. */
export function useSignIn() {
  const queries = useQueryClient();
  /** What another caller may see must not stay; the session itself is observed by the page. */
  const forgetOthers = (): void =>
    queries.removeQueries({ predicate: ({ queryKey: [root] }) => root !== SESSION_KEY[0] });
  return {
    signIn: async (token: string): Promise<void> => {
      const { value } = await call("createSession", { body: { token } });
      setCsrfToken(value.csrf_token);
      forgetOthers();
      queries.setQueryData(SESSION_KEY, value);
    },
    signOut: async (): Promise<void> => {
      try {
        await call("deleteSession");
      } catch (error) {
        // An ended session is what the user wanted.
        if (!(error instanceof ApiError) || error.status !== 401) throw error;
      }
      forgetOthers();
      await queries.invalidateQueries({ queryKey: SESSION_KEY });
    },
    /** Asks for the session again after a request was rejected. */
    recheck: () => queries.invalidateQueries({ queryKey: SESSION_KEY }),
  };
}
