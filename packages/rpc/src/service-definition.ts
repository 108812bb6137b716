import { toBinary, type DescMessage, type DescMethod, type DescService, type MessageShape } from "@bufbuild/protobuf";
import type { MethodDefinition } from "@grpc/grpc-js";

/** Returns the HTTP/2 path of a method. */
export function methodPath(method: DescMethod): string {
  return `/${method.parent.typeName}/${method.name}`;
}

/**
 * Defines a method for grpc-js. Requests stay bytes: the server decodes them itself and returns INVALID_ARGUMENT for
 * invalid ones, where grpc-js would return INTERNAL.
 */
export function methodDefinition(method: DescMethod): MethodDefinition<Buffer, Buffer> {
  const identity = (bytes: Buffer): Buffer => bytes;
  return {
    path: methodPath(method),
    requestStream: method.methodKind === "client_streaming" || method.methodKind === "bidi_streaming",
    responseStream: method.methodKind === "server_streaming" || method.methodKind === "bidi_streaming",
    requestSerialize: identity,
    requestDeserialize: identity,
    responseSerialize: identity,
    responseDeserialize: identity,
  };
}

/** Defines the methods of a service by name. */
export function serviceDefinition(service: DescService): Record<string, MethodDefinition<Buffer, Buffer>> {
  return Object.fromEntries(service.methods.map((method) => [method.name, methodDefinition(method)]));
}

/** Encodes a message without copying the bytes. */
export function encodeMessage<D extends DescMessage>(schema: D, message: MessageShape<D>): Buffer {
  const bytes = toBinary(schema, message);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
