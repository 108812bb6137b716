import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, SignJWT, type JWTPayload } from "jose";

/** An OIDC issuer on loopback that signs any claims. */
export interface Issuer extends AsyncDisposable {
  readonly url: string;
  sign(claims: JWTPayload, options?: { readonly expiresInSeconds?: number }): Promise<string>;
}

export const AUDIENCE = "oaas";

/** Starts an issuer with one key. */
export async function startIssuer(): Promise<Issuer> {
  const { publicKey, privateKey } = await generateKeyPair("ES256");
  const keys = [{ ...(await exportJWK(publicKey)), kid: "1", alg: "ES256" }];
  let url = "";
  const server = createServer((request, response) => {
    const isDiscovery = request.url === "/.well-known/openid-configuration";
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(isDiscovery ? { issuer: url, jwks_uri: `${url}/keys` } : { keys }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    sign: (claims, { expiresInSeconds = 600 } = {}) =>
      new SignJWT({ sub: "someone", ...claims })
        .setProtectedHeader({ alg: "ES256", kid: "1" })
        .setIssuer(url)
        .setAudience(AUDIENCE)
        .setExpirationTime(Math.floor(Date.now() / 1000) + expiresInSeconds)
        .sign(privateKey),
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
