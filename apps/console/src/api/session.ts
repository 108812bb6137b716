import { useQuery, useQueryClient } from "@tanstack/react-query";
import { ApiError } from "./errors.ts";
import { send, setCsrfToken } from "./client.ts";

export type Role = "viewer" | "deployer" | "admin";
const RANK: Readonly<Record<Role, number>> = { viewer: 0, deployer: 1, admin: 2 };

export interface Session {
  readonly authentication: "required" | "off";
  readonly authenticated: boolean;
  readonly caller: { readonly name: string; readonly role: Role } | null;
  readonly csrf_token: string | null;
  readonly expires_at: string | null;
  readonly sign_in_methods: readonly ("token" | "oidc")[];
  readonly oidc_login_url: string | null;
  readonly lab: boolean;
}

const SESSION_KEY = ["session"] as const;

async function readSession(signal?: AbortSignal): Promise<Session> {
  const { value } = await send<Session>("GET", "/api/v1/session", { signal });
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
      const { value } = await send<Session>("POST", "/api/v1/session", { body: { token } });
      setCsrfToken(value.csrf_token);
      forgetOthers();
      queries.setQueryData(SESSION_KEY, value);
    },
    signOut: async (): Promise<void> => {
      try {
        await send("DELETE", "/api/v1/session");
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
