/** Loggers, meters and tracers that record, for tests to assert on. */
export { createRecordingLogger, type RecordingLogger } from "./recording-logger.ts";
export { createRecordingMeter, type RecordingMeter } from "./recording-meter.ts";
export { createRecordingTracer, type RecordedSpan, type RecordingTracer } from "./recording-tracer.ts";
