/** What reads the files of a data folder. */
export { LogReader, lastLogs } from "./log-reader.ts";
