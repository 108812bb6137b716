import { createHash, generateKeyPairSync, randomUUID, sign } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

interface Grant {
  readonly challenge: string;
  readonly nonce: string;
  readonly redirectUri: string;
  readonly clientId: string;
}

export interface OidcProvider extends AsyncDisposable {
  readonly issuer: string;
  /** Claims of the next ID tokens, besides those of the protocol. */
  claims: Readonly<Record<string, unknown>>;
  /** Requests of the token endpoint that were refused, with the reason. */
  readonly refusals: readonly string[];
  /** What a person's browser does at the authorization endpoint: returns the address it is sent back to. */
  authorize(url: string): Promise<string>;
  close(): Promise<void>;
}

/** An OIDC issuer with the authorization code flow, which insists on PKCE, single use of codes and the secret of the client. */
export async function startOidcProvider(client: {
  readonly id: string;
  readonly secret?: string;
}): Promise<OidcProvider> {
  const keys = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const grants = new Map<string, Grant>();
  const refusals: string[] = [];
  const provider = { claims: {} as Readonly<Record<string, unknown>> };
  let issuer = "";

  const idToken = ({ nonce, clientId }: Grant): string => {
    const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
    const exp = Math.floor(Date.now() / 1000) + 60;
    const claims = { iss: issuer, aud: clientId, exp, nonce, sub: "u1", ...provider.claims };
    const text = `${part({ alg: "ES256", kid: "one" })}.${part(claims)}`;
    const signature = sign("sha256", Buffer.from(text), { key: keys.privateKey, dsaEncoding: "ieee-p1363" });
    return `${text}.${signature.toString("base64url")}`;
  };

  const exchange = (form: URLSearchParams, authorization: string | undefined): object | string => {
    const code = form.get("code") ?? "";
    const grant = grants.get(code);
    grants.delete(code);
    if (form.get("grant_type") !== "authorization_code") return "grant_type";
    if (grant === undefined) return "unknown or used code";
    if (form.get("client_id") !== client.id) return "client_id";
    const expected = client.secret && `Basic ${Buffer.from(`${client.id}:${client.secret}`).toString("base64")}`;
    if (authorization !== expected) return "client authentication";
    if (form.get("redirect_uri") !== grant.redirectUri) return "redirect_uri";
    const verifier = form.get("code_verifier") ?? "";
    if (createHash("sha256").update(verifier).digest("base64url") !== grant.challenge) return "code_verifier";
    return { access_token: "unused", token_type: "Bearer", id_token: idToken(grant) };
  };

  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", issuer);
    const reply = (status: number, body: object): void => {
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    };
    if (url.pathname === "/.well-known/openid-configuration")
      return reply(200, {
        issuer,
        jwks_uri: `${issuer}/keys`,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
      });
    if (url.pathname === "/keys")
      return reply(200, { keys: [{ ...keys.publicKey.export({ format: "jwk" }), kid: "one", use: "sig" }] });
    if (url.pathname !== "/token" || request.method !== "POST") return reply(404, {});
    void readForm(request).then((form) => {
      const result = exchange(form, request.headers.authorization);
      if (typeof result !== "string") return reply(200, result);
      refusals.push(result);
      return reply(400, { error: "invalid_grant", error_description: result });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = (): Promise<void> => new Promise((resolve) => server.close(() => resolve()));
  return Object.assign(provider, {
    issuer,
    refusals,
    close,
    [Symbol.asyncDispose]: close,
    authorize: async (location: string) => {
      const { origin, pathname, searchParams: asked } = new URL(location);
      const required = (name: string): string => {
        const value = asked.get(name);
        if (value === null || value === "") throw new Error(`${name} is missing in ${location}`);
        return value;
      };
      if (`${origin}${pathname}` !== `${issuer}/authorize`)
        throw new Error(`not the authorization endpoint: ${location}`);
      if (required("response_type") !== "code") throw new Error("response_type");
      if (required("code_challenge_method") !== "S256") throw new Error("code_challenge_method");
      if (!required("scope").split(" ").includes("openid")) throw new Error("scope");
      const code = randomUUID();
      const redirectUri = required("redirect_uri");
      grants.set(code, {
        challenge: required("code_challenge"),
        nonce: required("nonce"),
        redirectUri,
        clientId: required("client_id"),
      });
      const back = new URL(redirectUri);
      for (const [name, value] of Object.entries({ code, state: required("state"), iss: issuer }))
        back.searchParams.set(name, value);
      return back.href;
    },
  });
}

async function readForm(request: IncomingMessage): Promise<URLSearchParams> {
  let text = "";
  for await (const chunk of request) text += String(chunk);
  return new URLSearchParams(text);
}
