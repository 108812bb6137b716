import { LOG_FIELDS } from "../log-fields.ts";
import { recordTime, type LogSink } from "../logger.ts";
import type { LogDestination } from "./fd-destination.ts";

const { level: LEVEL, time: TIME, message: MESSAGE } = LOG_FIELDS;

/** One JSON object a line: level and time first, then the fields, the message last. */
export function createJsonSink(destination: LogDestination): LogSink {
  return (record) => {
    const fields = JSON.stringify(record.fields).slice(1, -1);
    const head = `{"${LEVEL}":"${record.level}","${TIME}":"${recordTime(record)}",`;
    const tail = `"${MESSAGE}":${JSON.stringify(record.message)}}\n`;
    destination.write(fields === "" ? head + tail : `${head}${fields},${tail}`);
  };
}
