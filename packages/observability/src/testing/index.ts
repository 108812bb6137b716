/** Logger and meter that record, for assertions in tests. */
export { createRecordingLogger, type LogRecord, type RecordingLogger } from "./recording-logger.ts";
export { createRecordingMeter, type RecordingMeter } from "./recording-meter.ts";
export { createRecordingTracer, type RecordingTracer } from "./recording-tracer.ts";
