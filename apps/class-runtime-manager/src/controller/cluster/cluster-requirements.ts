import { API_VERSION, CRD_FIELDS, KINDS, MIN_KUBERNETES_VERSION, VERSION } from "@oaas/contracts/crd";
import { Fault, isFault, sleep, type Timers } from "@oaas/foundation";
import type { Discovery, Prerequisite } from "@oaas/kube-runtime";
import type { Logger } from "@oaas/observability";
import { missingFields, type FieldSchema } from "./missing-fields.ts";

export interface ClusterRequirementsOptions {
  readonly discovery: Pick<Discovery, "version" | "schemas">;
  readonly timers: Timers;
  readonly logger: Logger;
}

const RETRY_MS = 5_000;
/** Fields named in a problem; an old release may lack hundreds. */
const MAX_FIELDS = 3;
const [MIN_MAJOR = 0, MIN_MINOR = 0] = MIN_KUBERNETES_VERSION.split(".").map(Number);

/**
 * Checks at the start that the cluster is new enough: its version, and that its CRDs have every field that the manager
 * writes; the API server would drop the others without an error.
 *
 * *Guarantees*: repeated until the cluster meets them; after that no further requests. *Caveats*: what the account may
 * not read is not checked; a kind that is not served at all is reported by its cache.
 */
export class ClusterRequirements implements Prerequisite {
  readonly #options: ClusterRequirementsOptions;
  #problems: readonly string[] = ["the version of the cluster and its CRDs are not checked yet"];

  constructor(options: ClusterRequirementsOptions) {
    this.#options = options;
  }

  get problems(): readonly string[] {
    return this.#problems;
  }

  async met(signal: AbortSignal): Promise<void> {
    const { timers, logger } = this.#options;
    for (;;) {
      const problems = await this.#check(signal);
      signal.throwIfAborted();
      if (problems.join() !== this.#problems.join()) {
        for (const problem of problems) logger.error("the cluster cannot be used", { problem });
      }
      this.#problems = problems;
      if (problems.length === 0) return;
      await sleep(timers, RETRY_MS, signal);
    }
  }

  async #check(signal: AbortSignal): Promise<readonly string[]> {
    const { discovery } = this.#options;
    try {
      const [version, schemas] = await Promise.all([
        orUnknown(discovery.version({ signal })),
        orUnknown(discovery.schemas(API_VERSION, { signal })),
      ]);
      return [...(version ? versionProblems(version) : []), ...(schemas ? fieldProblems(schemas) : [])];
    } catch (thrown) {
      return [`the version of the cluster and its CRDs cannot be checked: ${Fault.from(thrown).message}`];
    }
  }
}

/** Undefined for documents that the server does not have or the account may not read. */
async function orUnknown<T>(read: Promise<T>): Promise<T | undefined> {
  try {
    return await read;
  } catch (thrown) {
    if (isFault(thrown, "permission-denied") || isFault(thrown, "not-found")) return undefined;
    throw thrown;
  }
}

function versionProblems({ major, minor, gitVersion }: Awaited<ReturnType<Discovery["version"]>>): readonly string[] {
  // Some providers append a sign, as in 30+. A version that is not a number is not compared.
  const [ofMajor, ofMinor] = [Number.parseInt(major, 10), Number.parseInt(minor, 10)];
  const isOlder = ofMajor < MIN_MAJOR || (ofMajor === MIN_MAJOR && ofMinor < MIN_MINOR);
  if (!isOlder) return [];
  return [`the cluster runs Kubernetes ${gitVersion}: upgrade it to ${MIN_KUBERNETES_VERSION} or later`];
}

function fieldProblems(schemas: ReadonlyMap<string, FieldSchema>): readonly string[] {
  return KINDS.flatMap(({ kind, plural }) => {
    const served = schemas.get(kind);
    const missing = served === undefined ? [] : missingFields(CRD_FIELDS[kind] ?? {}, served, "");
    if (missing.length === 0) return [];
    const more = missing.length > MAX_FIELDS ? ` and ${missing.length - MAX_FIELDS} more` : "";
    const fields = `${missing.slice(0, MAX_FIELDS).join(", ")}${more}`;
    return [
      `the CRD of ${plural} is older than the manager: ${VERSION} does not have ${fields}; install the CRDs of this release`,
    ];
  });
}
