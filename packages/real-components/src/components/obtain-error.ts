import type { ComponentName } from "./manifest.ts";

/** Why a component could not be obtained, and the fix. */
export class ObtainError extends Error {
  override readonly name = "NotObtained";
  readonly remedy: string;

  constructor(reason: string, remedy: string) {
    super(reason);
    this.remedy = remedy;
  }
}

const KNOWN: readonly { readonly sign: RegExp; readonly reason: string; readonly remedy: string }[] = [
  {
    sign: /no space left on device|ENOSPC|not enough free space/i,
    reason: "the disk is full",
    remedy:
      "free about 10 GB (the Go build cache counts too), or point OAAS_CACHE_DIR, GOCACHE and GOMODCACHE elsewhere",
  },
  {
    sign: /dial tcp|no such host|i\/o timeout|connection refused|TLS handshake|could not resolve|failed to fetch|unable to connect|proxyconnect/i,
    reason: "the network or the package registry is unreachable",
    remedy:
      "check the network and the proxy settings (GOPROXY, HTTPS_PROXY, apt sources), then run it again; finished work is kept",
  },
  {
    sign: /checksum mismatch|SECURITY ERROR/i,
    reason: "the checksum of a downloaded module does not match",
    remedy: 'do not use it; run "go clean -modcache" and try again, and report it if it persists',
  },
  {
    sign: /requires go >= |toolchain not available|invalid go version|unknown directive: tool/i,
    reason: "the installed Go is too old for the module",
    remedy: 'install Go 1.26 or newer (Go 1.21 and newer fetch it themselves when GOTOOLCHAIN is not "local")',
  },
  {
    sign: /unable to locate package|has no installation candidate/i,
    reason: "the Debian package is not in the package lists",
    remedy: "check that the apt sources include the main section of Debian 12, then run it again",
  },
];

/** Finds the cause in the output of a failed step; always includes the end of the output. */
export function explainFailure(step: string, output: string, logFile: string): ObtainError {
  const tail = output.trimEnd().split("\n").slice(-12).join("\n");
  const cause = KNOWN.find(({ sign }) => sign.test(output));
  return new ObtainError(
    `${step} failed${cause ? `: ${cause.reason}` : ""}. The last lines of ${logFile}:\n${tail}`,
    cause?.remedy ?? "read the log above, then run it again; finished work is kept",
  );
}

/** Explains a file system error; undefined for any other error, which is a bug. */
export function explainSystemError(error: unknown): ObtainError | undefined {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === "ENOSPC" || code === "EDQUOT") return explainFailure("writing", `ENOSPC: ${message}`, "the error");
  if (code === "EACCES" || code === "EPERM" || code === "EROFS") {
    return new ObtainError(`cannot write the cache: ${message}`, "set OAAS_CACHE_DIR to a writable folder");
  }
  return undefined;
}

/** The result of obtaining a component. */
export type ComponentState =
  | { readonly state: "present" }
  | { readonly state: "obtained"; readonly elapsedMs: number }
  | { readonly state: "missing"; readonly reason: string; readonly remedy: string };

export type ComponentReport = { readonly name: ComponentName; readonly version: string } & ComponentState;
