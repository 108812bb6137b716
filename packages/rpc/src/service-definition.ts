import { toBinary, type DescMessage, type DescMethod, type DescService, type MessageShape } from "@bufbuild/protobuf";
import type { MethodDefinition } from "@grpc/grpc-js";

/** The full path of a method, as HTTP/2 has it. */
export function methodPath(method: DescMethod): string {
  return `/${method.parent.typeName}/${method.name}`;
}

/**
 * A method for grpc-js. Messages stay bytes on the way in: decoding in the handler turns rubbish into INVALID_ARGUMENT, where grpc-js
 * itself would answer INTERNAL.
 */
export function methodDefinition(method: DescMethod): MethodDefinition<Buffer, Buffer> {
  const asIs = (bytes: Buffer): Buffer => bytes;
  return {
    path: methodPath(method),
    requestStream: method.methodKind === "client_streaming" || method.methodKind === "bidi_streaming",
    responseStream: method.methodKind === "server_streaming" || method.methodKind === "bidi_streaming",
    requestSerialize: asIs,
    requestDeserialize: asIs,
    responseSerialize: asIs,
    responseDeserialize: asIs,
  };
}

/** Every method of a service by its name. */
export function serviceDefinition(service: DescService): Record<string, MethodDefinition<Buffer, Buffer>> {
  return Object.fromEntries(service.methods.map((method) => [method.name, methodDefinition(method)]));
}

/** A message's bytes, without a copy. */
export function encodeMessage<D extends DescMessage>(schema: D, message: MessageShape<D>): Buffer {
  const bytes = toBinary(schema, message);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
