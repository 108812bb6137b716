import { createHash, randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, SignJWT, type JWTPayload } from "jose";

/** An OpenID provider on loopback with pages for people: authorization code flow with PKCE, for one public client. */
export interface OidcProvider extends AsyncDisposable {
  /** Its host is another site than 127.0.0.1, as with a provider on the internet. */
  readonly issuer: string;
  /** Claims of the next ID tokens. */
  claims: JWTPayload;
  /** Changes where the browser is sent after the consent, as an attacker or a broken proxy does. */
  tamper: ((redirect: URL) => void) | undefined;
  /** How long codes are valid. */
  codeLifetimeMs: number;
  /** Why requests of the token endpoint were refused. */
  readonly refusals: readonly string[];
  close(): Promise<void>;
}

interface Grant {
  readonly challenge: string;
  readonly nonce: string;
  readonly redirectUri: string;
  readonly expiresAt: number;
}

const PAGE = (query: string): string => `<!doctype html><html lang="en"><title>Provider</title><h1>Example provider</h1>
<form method="post" action="/consent?${query.replaceAll("&", "&amp;")}"><button name="answer" value="allow">Allow</button><button name="answer" value="deny">Deny</button></form>`;

/** Starts the provider for the client `clientId`. */
export async function startOidcProvider(clientId: string): Promise<OidcProvider> {
  const { publicKey, privateKey } = await generateKeyPair("ES256");
  const key = { ...(await exportJWK(publicKey)), kid: "1", alg: "ES256", use: "sig" };
  const grants = new Map<string, Grant>();
  const refusals: string[] = [];
  const settings = { claims: {} as JWTPayload, tamper: undefined as OidcProvider["tamper"], codeLifetimeMs: 60_000 };
  let issuer = "";

  const authorizationProblem = (asked: URLSearchParams): string | undefined => {
    if (asked.get("client_id") !== clientId) return "client_id";
    if (asked.get("response_type") !== "code") return "response_type";
    if (asked.get("code_challenge_method") !== "S256" || !asked.get("code_challenge")) return "code_challenge";
    if (!(asked.get("scope") ?? "").split(" ").includes("openid")) return "scope";
    return ["state", "nonce", "redirect_uri"].find((name) => !asked.get(name));
  };

  const answerConsent = (asked: URLSearchParams, isAllowed: boolean): string => {
    const redirect = new URL(asked.get("redirect_uri") ?? "");
    redirect.searchParams.set("state", asked.get("state") ?? "");
    redirect.searchParams.set("iss", issuer);
    if (isAllowed) {
      const code = randomUUID();
      grants.set(code, {
        challenge: asked.get("code_challenge") ?? "",
        nonce: asked.get("nonce") ?? "",
        redirectUri: asked.get("redirect_uri") ?? "",
        expiresAt: Date.now() + settings.codeLifetimeMs,
      });
      redirect.searchParams.set("code", code);
    } else redirect.searchParams.set("error", "access_denied");
    settings.tamper?.(redirect);
    return redirect.href;
  };

  const exchange = async (form: URLSearchParams): Promise<object | string> => {
    const code = form.get("code") ?? "";
    const grant = grants.get(code);
    grants.delete(code);
    if (form.get("grant_type") !== "authorization_code") return "grant_type";
    if (grant === undefined) return "unknown or used code";
    if (grant.expiresAt <= Date.now()) return "expired code";
    if (form.get("client_id") !== clientId) return "client_id";
    if (form.get("redirect_uri") !== grant.redirectUri) return "redirect_uri";
    const verifier = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    if (verifier !== grant.challenge) return "code_verifier";
    const sign = (claims: JWTPayload): Promise<string> =>
      new SignJWT({ sub: "user-1", ...claims, ...settings.claims })
        .setProtectedHeader({ alg: "ES256", kid: "1" })
        .setIssuer(issuer)
        .setAudience(clientId)
        .setIssuedAt()
        .setExpirationTime("1m")
        .sign(privateKey);
    return {
      token_type: "Bearer",
      expires_in: 60,
      access_token: await sign({}),
      id_token: await sign({ nonce: grant.nonce }),
    };
  };

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname, searchParams } = new URL(request.url ?? "/", issuer);
    const json = (status: number, value: object): void =>
      void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
    switch (`${request.method} ${pathname}`) {
      case "GET /.well-known/openid-configuration":
        return json(200, {
          issuer,
          jwks_uri: `${issuer}/keys`,
          authorization_endpoint: `${issuer}/authorize`,
          token_endpoint: `${issuer}/token`,
        });
      case "GET /keys":
        return json(200, { keys: [key] });
      case "GET /authorize": {
        const problem = authorizationProblem(searchParams);
        if (problem !== undefined) return json(400, { error: "invalid_request", error_description: problem });
        return void response.writeHead(200, { "content-type": "text/html" }).end(PAGE(searchParams.toString()));
      }
      case "POST /consent": {
        const isAllowed = (await readForm(request)).get("answer") === "allow";
        return void response.writeHead(303, { location: answerConsent(searchParams, isAllowed) }).end();
      }
      case "POST /token": {
        const result = await exchange(await readForm(request));
        if (typeof result !== "string") return json(200, result);
        refusals.push(result);
        return json(400, { error: "invalid_grant", error_description: result });
      }
      default:
        return json(404, {});
    }
  };

  const server = createServer((request, response) => void serve(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  issuer = `http://localhost:${(server.address() as AddressInfo).port}`;
  const close = async (): Promise<void> => {
    server.close();
    server.closeAllConnections();
  };
  return Object.assign(settings, { issuer, refusals, close, [Symbol.asyncDispose]: close });
}

async function readForm(request: IncomingMessage): Promise<URLSearchParams> {
  let text = "";
  for await (const chunk of request) text += String(chunk);
  return new URLSearchParams(text);
}
