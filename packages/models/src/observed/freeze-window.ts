import type { Brand } from "@oaas/foundation";
import { findScheduleProblem } from "@oaas/foundation/schedule";
import type { ClusterName } from "../fields/ids.ts";
import type { WholeRange } from "../fields/limits.ts";
import { patternRule, quoteText, type TextRule } from "../fields/text-rule.ts";

export type FreezeWindowName = Brand<string, "FreezeWindowName">;

/** A time, once or by a schedule, in which users and automatic changes leave clusters alone. */
export interface FreezeWindowSpec {
  /** Empty: the whole platform. */
  readonly clusters: readonly ClusterName[];
  /** RFC 3339, with `end`; instead of a schedule. */
  readonly start?: string;
  readonly end?: string;
  /** When the window begins, as a CronJob states it; with `durationSeconds`. */
  readonly schedule?: string;
  readonly durationSeconds?: number;
  /** IANA time zone of the schedule; absent: UTC. */
  readonly timeZone?: string;
  readonly reason?: string;
}

export interface FreezeWindow extends FreezeWindowSpec {
  readonly name: FreezeWindowName;
  readonly by: string;
  /** RFC 3339. */
  readonly at: string;
}

/** A window with its present state. */
export interface FreezeWindowState extends FreezeWindow {
  readonly active: boolean;
  /** RFC 3339: when the present occurrence ends. */
  readonly until?: string;
  /** RFC 3339: when the next occurrence begins. */
  readonly nextStart?: string;
}

/** A window that is active now, for some clusters. */
export interface ActiveFreeze {
  readonly window: FreezeWindowName;
  /** Of the clusters in question, those that are frozen. */
  readonly clusters: readonly ClusterName[];
  /** RFC 3339. */
  readonly until: string;
  readonly reason?: string;
}

/** Windows of an installation: they are one record of the store. */
export const MAX_FREEZE_WINDOWS = 100;

/** Up to 90 days. */
export const FREEZE_DURATION_RANGE: WholeRange = { min: 60, max: 7_776_000 };

export const FREEZE_WINDOW_NAME: TextRule = patternRule({
  what: "a name of a freeze window",
  pattern: /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/,
  maxLength: 63,
  fix: "use lower-case letters, digits and '-', with a letter or digit at both ends",
});

export const FREEZE_REASON: TextRule = {
  what: "a reason",
  maxLength: 1024,
  findProblem: ({ length }) =>
    length > 1024 ? { message: `has ${length} characters`, fix: "shorten it to at most 1024" } : undefined,
};

export const FREEZE_SCHEDULE: TextRule = {
  what: "a cron schedule",
  maxLength: 256,
  findProblem(text) {
    const fix = 'state minute, hour, day of month, month and day of week, such as "0 18 * * 5"';
    if (text.length > 256) return { message: `has ${text.length} characters`, fix };
    // An interval has no place in a calendar: it would begin again with each restart.
    if (text.startsWith("@every")) return { message: `${quoteText(text)} is not a calendar`, fix };
    const problem = text.includes("TZ") ? "a time zone belongs in time_zone" : findScheduleProblem(text);
    return problem === undefined
      ? undefined
      : { message: `${quoteText(text)} is not a cron schedule: ${problem}`, fix };
  },
};

export const TIME_ZONE: TextRule = {
  what: "a time zone",
  maxLength: 64,
  findProblem(text) {
    if (text.length <= 64 && isTimeZone(text)) return undefined;
    return { message: `${quoteText(text)} is not a time zone`, fix: "use an IANA name, such as Europe/Berlin or UTC" };
  },
};

function isTimeZone(text: string): boolean {
  try {
    return new Intl.DateTimeFormat("en-US", { timeZone: text }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}
