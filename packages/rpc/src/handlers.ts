import type { DescMessage, DescMethod, DescService, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { Call } from "./call.ts";

type UnaryHandler<I extends DescMessage, O extends DescMessage> = (
  request: MessageShape<I>,
  call: Call,
) => Promise<MessageInitShape<O>>;

type ServerStreamHandler<I extends DescMessage, O extends DescMessage> = (
  request: MessageShape<I>,
  call: Call,
) => AsyncIterable<MessageInitShape<O>>;

type BidiHandler<I extends DescMessage, O extends DescMessage> = (
  requests: AsyncIterable<MessageShape<I>>,
  call: Call,
) => AsyncIterable<MessageInitShape<O>>;

type HandlerOf<M> = M extends { readonly methodKind: infer Kind; readonly input: infer I; readonly output: infer O }
  ? I extends DescMessage
    ? O extends DescMessage
      ? Kind extends "unary"
        ? UnaryHandler<I, O>
        : Kind extends "server_streaming"
          ? ServerStreamHandler<I, O>
          : BidiHandler<I, O>
      : never
    : never
  : never;

/** Handlers by method. Methods without a handler return UNIMPLEMENTED. A handler throws a Fault to reject a call. */
export type Handlers<S extends DescService> = { readonly [K in keyof S["method"]]?: HandlerOf<S["method"][K]> };

/** A handler without its static types. */
export type AnyHandler = (request: unknown, call: Call) => unknown;

/** A service with its handlers. */
export interface BoundService {
  readonly service: DescService;
  readonly handlers: ReadonlyMap<DescMethod, AnyHandler>;
}

/** Binds handlers to a service. */
export function bindService<S extends DescService>(service: S, handlers: Handlers<S>): BoundService {
  const bound = new Map<DescMethod, AnyHandler>();
  for (const method of service.methods) {
    const handler = handlers[method.localName as keyof S["method"]] as AnyHandler | undefined;
    if (handler) bound.set(method, handler);
  }
  return { service, handlers: bound };
}
