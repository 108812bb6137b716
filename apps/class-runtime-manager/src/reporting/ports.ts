import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ReportRuntimeMetricsRequestSchema, ReportStatusRequestSchema } from "@oaas/contracts/grpc";

export type StatusReport = MessageInitShape<typeof ReportStatusRequestSchema>;
export type MetricsReport = MessageInitShape<typeof ReportRuntimeMetricsRequestSchema>;

/** Who takes the reports. Every call ends in bounded time and throws a fault when the report was not taken. */
export interface ReportSink {
  status(report: StatusReport, correlationId: string | undefined, signal: AbortSignal): Promise<void>;
  metrics(report: MetricsReport, signal: AbortSignal): Promise<void>;
  /** The last calls failed: whatever is remembered about the way there may be out of date. */
  startOver(): void;
}
