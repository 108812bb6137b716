/** What a deployment wants observed; what is absent follows the cluster's own setting. */
export interface TelemetryConfig {
  /** A present block without this means yes. */
  readonly enabled?: boolean;
  readonly traces?: boolean;
  readonly metrics?: boolean;
  readonly logs?: boolean;
  /** Share of traces kept, 0 to 1. */
  readonly samplingRate?: number;
  readonly serviceName?: string;
  readonly resourceAttributes: Readonly<Record<string, string>>;
}
