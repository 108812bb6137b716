import { findScheduleProblem } from "@oaas/foundation/schedule";
import { invalid, NONE, type Errors } from "./field-errors.ts";

/** Violations of a CronJob schedule, with the parser's messages. */
export function validateCron(schedule: string, field: string): Errors {
  if (schedule.includes("TZ")) {
    return [invalid(field, schedule, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead")];
  }
  const detail = findScheduleProblem(schedule);
  return detail === undefined ? NONE : [invalid(field, schedule, detail)];
}
