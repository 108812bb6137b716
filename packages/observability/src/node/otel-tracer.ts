import {
  createTraceState,
  ROOT_CONTEXT,
  SpanKind as OtelSpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Span as OtelSpan,
} from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { resourceFromAttributes } from "@opentelemetry/resources";
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
  type IdGenerator,
  type SpanExporter,
} from "@opentelemetry/sdk-trace";
import { Fault, randomInt, type Random } from "@oaas/foundation";
import type { Logger } from "../logger.ts";
import type { SpanContext } from "../trace-context.ts";
import type { Span, SpanAttributes, SpanKind, Tracer } from "../tracer.ts";
import { inContext } from "../work-context.ts";
import type { RunningTracer, TracerOptions } from "./tracing.ts";

/** A tracer that exports by OTLP over HTTP. This file alone loads the SDK; import it only when there is an endpoint. */
export function createOtelTracer(options: TracerOptions, endpoint: string): RunningTracer {
  const timeoutMillis = options.exportTimeoutMs ?? DEFAULT_EXPORT_TIMEOUT_MS;
  const exporter = reporting(new OTLPTraceExporter({ url: tracesUrl(endpoint), timeoutMillis }), endpoint, options.log);
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ "service.name": options.service, "service.version": options.version }),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(options.sampleRatio ?? 1) }),
    idGenerator: idsFrom(options.random),
    spanProcessors: [new BatchSpanProcessor({ exporter, exportTimeoutMillis: timeoutMillis + 1000 })],
  });
  const otel = provider.getTracer(options.service, options.version);
  const tracer: Tracer = {
    start: (name, { kind = "internal", attributes = {}, parent } = {}) => {
      const from = parent ?? options.context.current().span;
      const span = otel.startSpan(
        name,
        { kind: KINDS[kind], attributes: { ...attributes }, startTime: options.clock.now() },
        from === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, toOtel(from)),
      );
      return wrap(span, options.clock);
    },
    run: (span, work) =>
      span.context === undefined ? work() : inContext(options.context, { span: span.context }, work),
  };
  return { tracer, flush: () => provider.forceFlush(), shutdown: () => provider.shutdown() };
}

const DEFAULT_EXPORT_TIMEOUT_MS = 5000;

const KINDS: Readonly<Record<SpanKind, OtelSpanKind>> = {
  internal: OtelSpanKind.INTERNAL,
  server: OtelSpanKind.SERVER,
  client: OtelSpanKind.CLIENT,
  producer: OtelSpanKind.PRODUCER,
  consumer: OtelSpanKind.CONSUMER,
};

/** The endpoint is a base as OTEL_EXPORTER_OTLP_ENDPOINT has it, or the full URL of traces. */
function tracesUrl(endpoint: string): string {
  const base = endpoint.replace(/\/+$/, "");
  return base.endsWith("/v1/traces") ? base : `${base}/v1/traces`;
}

function toOtel(span: SpanContext): Parameters<typeof trace.setSpanContext>[1] {
  const { traceId, spanId, sampled, traceState } = span;
  return {
    traceId,
    spanId,
    traceFlags: sampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
    ...(traceState === undefined ? {} : { traceState: createTraceState(traceState) }),
  };
}

function wrap(span: OtelSpan, clock: TracerOptions["clock"]): Span {
  const { traceId, spanId, traceFlags, traceState } = span.spanContext();
  const context = { traceId, spanId, sampled: (traceFlags & TraceFlags.SAMPLED) !== 0 };
  const state = traceState?.serialize();
  return {
    context: state === undefined || state === "" ? context : { ...context, traceState: state },
    setAttributes: (attributes: SpanAttributes) => void span.setAttributes({ ...attributes }),
    recordFault: (thrown) => {
      const fault = Fault.from(thrown);
      span.setAttributes({ "oaas.fault.kind": fault.kind, "oaas.fault.code": fault.code });
      span.recordException({ name: fault.code, message: fault.message }, clock.now());
      span.setStatus({ code: SpanStatusCode.ERROR, message: fault.message });
    },
    end: () => span.end(clock.now()),
  };
}

/** Ids from our own source of chance, so that a seeded run repeats them. */
function idsFrom(random: Random): IdGenerator {
  const hex = (digits: number): string => {
    let text = "";
    while (text.length < digits) text += randomInt(random, 0x1_0000).toString(16).padStart(4, "0");
    return /^0+$/.test(text) ? hex(digits) : text;
  };
  return { generateTraceId: () => hex(32), generateSpanId: () => hex(16) };
}

/** The enum of it is in a package that we do not depend on. */
const EXPORTED = 0;

/** Says once when export begins to fail, and once when it works again; the SDK itself is silent. */
function reporting(exporter: SpanExporter, endpoint: string, log: Logger): SpanExporter {
  let isFailing = false;
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        const code: number = result.code;
        const failed = code !== EXPORTED;
        if (failed && !isFailing) log.warn("traces cannot be exported", { endpoint, fault: result.error });
        if (!failed && isFailing) log.info("traces are exported again", { endpoint });
        isFailing = failed;
        done(result);
      }),
    shutdown: () => exporter.shutdown(),
    forceFlush: async () => exporter.forceFlush?.(),
  };
}
