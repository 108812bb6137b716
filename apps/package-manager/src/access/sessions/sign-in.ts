import { faultStatus } from "@oaas/contracts/rest";
import { Fault } from "@oaas/foundation";
import { actorOf, type AuditTrail } from "../audit.ts";
import type { Authenticator } from "../authenticator.ts";
import { assertRole, UNKNOWN_CALLER, type Caller } from "../caller.ts";
import { LoginFailed, type CallbackQuery, type OidcLogin } from "./oidc-login.ts";
import type { Session, Sessions } from "./sessions.ts";

/** Who tries to sign in or out, for the audit trail. */
export interface Attempt {
  readonly action: string;
  readonly address: string;
  readonly correlationId: string;
}

export interface SignInOptions {
  readonly sessions: Sessions;
  readonly authenticate: Authenticator;
  readonly audit: Pick<AuditTrail, "begin" | "refuse">;
  /** Throws resource-exhausted when an address tries too often. */
  readonly admit: (address: string) => void;
}

type OpenSession = Session & { readonly secret: string };

/** What a session is opened for: a caller that sent a token, or one that an issuer identified. */
interface Identified {
  readonly caller: Caller;
  readonly token?: string;
}

/**
 * Opens and ends sessions.
 *
 * *Guarantees*: attempts are limited by address; every attempt is in the audit trail, a successful one before its session exists; only
 * callers that may read anything get a session.
 */
export class SignIn {
  readonly #options: SignInOptions;

  constructor(options: SignInOptions) {
    this.#options = options;
  }

  /** Throws resource-exhausted when an address tries too often. */
  admit(address: string): void {
    this.#options.admit(address);
  }

  /** Opens a session for a bearer token. A client certificate is checked too where one is required. */
  withToken(
    attempt: Attempt,
    token: string,
    certificate: Parameters<Authenticator>[0]["certificate"],
  ): Promise<OpenSession> {
    const { address } = attempt;
    return this.#open(attempt, async () => ({
      caller: await this.#options.authenticate({ address, authorization: `Bearer ${token}`, certificate }),
      token,
    }));
  }

  /** Opens a session for the answer of an issuer. `secret` is that of the login cookie. */
  withOidc(attempt: Attempt, oidc: OidcLogin, secret: string | undefined, query: CallbackQuery): Promise<OpenSession> {
    return this.#open(attempt, async () => ({ caller: await oidc.callerOf(secret, query) }));
  }

  /** Ends a session, if there is one. */
  async signOut({ action, address, correlationId }: Attempt, secret: string): Promise<void> {
    const { sessions, audit } = this.#options;
    const session = await sessions.find(secret).catch((thrown: unknown) => {
      if (Fault.from(thrown).kind === "unauthenticated") return undefined;
      throw thrown;
    });
    if (session === undefined) return;
    const actor = actorOf(session.caller, address);
    const end = await audit.begin({ actor, action, target: "session", correlationId });
    await sessions.close(secret).catch((thrown: unknown) => {
      end({ status: 503, reason: Fault.from(thrown).message });
      throw thrown;
    });
    end({ status: 204 });
  }

  async #open({ action, address, correlationId }: Attempt, identify: () => Promise<Identified>): Promise<OpenSession> {
    const { sessions, audit, admit } = this.#options;
    let known = UNKNOWN_CALLER;
    const attempted = () => ({ actor: actorOf(known, address), action, target: "session", correlationId });
    let found: Identified;
    try {
      admit(address);
      found = await identify();
      known = found.caller;
      assertRole(known, "viewer", "sign in");
    } catch (thrown) {
      const fault = thrown instanceof LoginFailed ? thrown.fault : Fault.from(thrown);
      await audit.refuse(attempted(), { status: faultStatus(fault), reason: fault.message });
      throw thrown;
    }
    const end = await audit.begin(attempted());
    try {
      const session = await sessions.open(found.caller, found.token);
      end({ status: 200 });
      return session;
    } catch (thrown) {
      const fault = Fault.from(thrown);
      end({ status: faultStatus(fault), reason: fault.message });
      throw thrown;
    }
  }
}
