import type { ComponentName } from "./manifest.ts";

/** Why a component could not be had, and what its reader can do. */
export class NotObtained extends Error {
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
    reason: "the network or the package registry could not be reached",
    remedy:
      "check the network and the proxy settings (GOPROXY, HTTPS_PROXY, apt's sources), then run it again; what was done is kept",
  },
  {
    sign: /checksum mismatch|SECURITY ERROR/i,
    reason: "a downloaded module does not have the recorded checksum",
    remedy: 'do not use it; run "go clean -modcache" and try again, and report it when it stays',
  },
  {
    sign: /requires go >= |toolchain not available|invalid go version|unknown directive: tool/i,
    reason: "the installed Go is too old for the module",
    remedy: 'install Go 1.26 or newer (Go 1.21 and newer fetch it themselves when GOTOOLCHAIN is not "local")',
  },
  {
    sign: /unable to locate package|has no installation candidate/i,
    reason: "the Debian package is not in the package lists",
    remedy: "check that the sources of apt have the main section of Debian 12, then run it again",
  },
];

/** Reads the cause out of a failed step's output; shows the end of it in any case. */
export function explainFailure(step: string, output: string, logFile: string): NotObtained {
  const tail = output.trimEnd().split("\n").slice(-12).join("\n");
  const cause = KNOWN.find(({ sign }) => sign.test(output));
  return new NotObtained(
    `${step} failed${cause ? `: ${cause.reason}` : ""}. The last lines of ${logFile}:\n${tail}`,
    cause?.remedy ?? "read the log above, then run it again; what was done is kept",
  );
}

/** The same for an error of our own work on files; undefined when it is none, and so a mistake of ours. */
export function explainSystemError(error: unknown): NotObtained | undefined {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === "ENOSPC" || code === "EDQUOT") return explainFailure("writing", `ENOSPC: ${message}`, "the error");
  if (code === "EACCES" || code === "EPERM" || code === "EROFS") {
    return new NotObtained(`the cache cannot be written: ${message}`, "point OAAS_CACHE_DIR to a folder of your own");
  }
  return undefined;
}

/** What a component that was wanted turned out to be. */
export type ComponentState =
  | { readonly state: "present" }
  | { readonly state: "obtained"; readonly elapsedMs: number }
  | { readonly state: "missing"; readonly reason: string; readonly remedy: string };

/** The state of one component, after it was asked for. */
export type ComponentReport = { readonly name: ComponentName; readonly version: string } & ComponentState;
