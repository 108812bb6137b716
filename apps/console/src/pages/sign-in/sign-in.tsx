import { KeyRound, LogIn } from "lucide-react";
import { useId, useState } from "react";
import { useSearch } from "wouter";
import type { Session } from "../../api/contract.ts";
import { useSignIn } from "../../api/session.ts";
import { m } from "../../messages/en.ts";
import { Button } from "../../ui/button.tsx";
import { Violations } from "../../ui/states.tsx";
import { Notice } from "../../ui/status.tsx";

/** The token leaves this form once, for a cookie that scripts cannot read. */
export function SignInPage({ session, returnTo }: { readonly session: Session; readonly returnTo: string }) {
  const [token, setToken] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const { signIn } = useSignIn();
  const id = useId();
  const problem = new URLSearchParams(useSearch()).get("error");
  const oidc = session.sign_in_methods.includes("oidc") ? session.oidc_login_url : null;
  const submit = async (): Promise<void> => {
    setBusy(true);
    setError(undefined);
    try {
      await signIn(token.trim());
    } catch (cause) {
      setError(cause);
      setBusy(false);
    }
  };
  return (
    <main className="flex min-h-dvh items-center justify-center p-4">
      <div className="w-full max-w-sm space-y-5 rounded-xl border border-line bg-surface p-6 shadow-[var(--shadow-lg)]">
        <div className="flex items-center gap-2.5">
          <img src="/favicon.svg" alt="" width={30} height={30} />
          <h1 className="text-xl font-semibold">{m.session.title}</h1>
        </div>
        {problem !== null && <Notice tone="bad" title={m.session.oidcError(problem)} />}
        {oidc !== null && (
          <a
            href={`${oidc}?return_to=${encodeURIComponent(returnTo)}`}
            className="flex items-center justify-center gap-2 rounded-md bg-accent px-3 py-2 font-medium text-accent-ink hover:opacity-90"
          >
            <LogIn size={16} aria-hidden />
            {m.session.oidc}
          </a>
        )}
        {session.sign_in_methods.includes("token") && (
          <form
            className="space-y-3"
            onSubmit={(event) => {
              event.preventDefault();
              void submit();
            }}
          >
            <label htmlFor={id} className="block space-y-1">
              <span className="text-sm font-medium">{m.session.token}</span>
              <input
                id={id}
                type="password"
                autoComplete="off"
                required
                className="field font-mono"
                value={token}
                onChange={(event) => setToken(event.target.value)}
              />
            </label>
            <p className="text-sm text-ink-2">{m.session.tokenHint}</p>
            <Violations error={error} />
            <Button
              type="submit"
              variant={oidc === null ? "primary" : "plain"}
              icon={KeyRound}
              busy={busy}
              className="w-full"
            >
              {m.session.signIn}
            </Button>
          </form>
        )}
        {session.sign_in_methods.length === 0 && <Notice tone="warn" title={m.session.certificateOnly} />}
      </div>
    </main>
  );
}
