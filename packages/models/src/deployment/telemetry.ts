/** Telemetry settings of a deployment; the cluster setting applies if undefined. */
export interface TelemetryConfig {
  /** True by default if the block is present. */
  readonly enabled?: boolean;
  readonly traces?: boolean;
  readonly metrics?: boolean;
  readonly logs?: boolean;
  /** Sampling rate of traces, 0 to 1. */
  readonly samplingRate?: number;
  readonly serviceName?: string;
  readonly resourceAttributes: Readonly<Record<string, string>>;
}
