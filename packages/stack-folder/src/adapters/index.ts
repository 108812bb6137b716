/** Readers of the files in a data folder. */
export { LogReader, readLastLogs } from "./log-reader.ts";
