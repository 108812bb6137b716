/** Cron schedules in the dialect of Kubernetes' CronJob, with time zones. */
export { localClock, parseSchedule, toZonedTime, type Schedule } from "./schedule.ts";
export { findScheduleProblem } from "./schedule-problem.ts";
