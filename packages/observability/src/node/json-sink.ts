import { pino } from "pino";
import { LOG_FIELDS } from "../log-fields.ts";
import { recordTime, type LogSink } from "../logger.ts";
import type { LogDestination } from "./fd-destination.ts";

/** One JSON object a line: level and time first, then the fields, the message last. */
export function createJsonSink(destination: LogDestination): LogSink {
  let time = "";
  const writer = pino(
    {
      level: "trace",
      base: null,
      messageKey: LOG_FIELDS.message,
      timestamp: () => `,"${LOG_FIELDS.time}":"${time}"`,
      formatters: { level: (label) => ({ [LOG_FIELDS.level]: label }) },
    },
    destination,
  );
  return (record) => {
    time = recordTime(record);
    writer[record.level](record.fields, record.message);
  };
}
