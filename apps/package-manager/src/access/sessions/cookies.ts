/** The value of a cookie in a request; the first one of its name. */
export function readCookie(header: string | undefined, name: string): string | undefined {
  for (const pair of header?.split(";") ?? []) {
    const at = pair.indexOf("=");
    if (at > 0 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim();
  }
  return undefined;
}

/** The cookies of sign-in. */
export interface CookieNames {
  readonly session: string;
  readonly login: string;
  readonly isSecure: boolean;
}

/** Browsers accept the prefix only from this host, over TLS and for the whole host: no sibling domain can set such a cookie. */
export function cookieNames(isSecure: boolean): CookieNames {
  const prefix = isSecure ? "__Host-" : "";
  return { session: `${prefix}oaas-session`, login: `${prefix}oaas-login`, isSecure };
}

export interface CookieOptions {
  readonly isSecure: boolean;
  readonly maxAgeSeconds: number;
  /** Lax: also sent when another site leads the browser here, as an issuer does. */
  readonly sameSite: "Strict" | "Lax";
}

/** The Set-Cookie header of a cookie that scripts cannot read. */
export function setCookie(name: string, value: string, { isSecure, maxAgeSeconds, sameSite }: CookieOptions): string {
  const secure = isSecure ? "; Secure" : "";
  return `${name}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=${sameSite}${secure}`;
}

/** The Set-Cookie header that deletes a cookie. */
export function deleteCookie(name: string, isSecure: boolean): string {
  return setCookie(name, "", { isSecure, maxAgeSeconds: 0, sameSite: "Strict" });
}
