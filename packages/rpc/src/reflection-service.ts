import { toBinary, type DescFile } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { GRPC_STATUS, grpcReflection, grpcReflectionAlpha } from "@oaas/contracts/grpc";
import { bindService, type BoundService } from "./handlers.ts";

type ReflectionRequest = grpcReflection.ServerReflectionRequest["messageRequest"];

/** A response in the format that both versions of the protocol share. */
type ReflectionResponse =
  | { readonly case: "fileDescriptorResponse"; readonly value: { readonly fileDescriptorProto: Uint8Array[] } }
  | { readonly case: "listServicesResponse"; readonly value: { readonly service: { readonly name: string }[] } }
  | {
      readonly case: "allExtensionNumbersResponse";
      readonly value: { readonly baseTypeName: string; readonly extensionNumber: number[] };
    }
  | { readonly case: "errorResponse"; readonly value: { readonly errorCode: number; readonly errorMessage: string } };

/** Server reflection, v1 and v1alpha: lets grpcurl and buf curl call the server without .proto files. */
export function reflectionServices(files: readonly DescFile[], served: readonly string[]): BoundService[] {
  const index = new DescriptorIndex(files, served);
  async function* respond<
    R extends { readonly messageRequest: { readonly case: string | undefined }; readonly host: string },
  >(requests: AsyncIterable<R>) {
    for await (const request of requests) {
      yield {
        validHost: request.host,
        originalRequest: request,
        messageResponse: index.respond(request.messageRequest as ReflectionRequest),
      };
    }
  }
  return [
    bindService(grpcReflection.ServerReflection, { serverReflectionInfo: (requests) => respond(requests) as never }),
    bindService(grpcReflectionAlpha.ServerReflection, {
      serverReflectionInfo: (requests) => respond(requests) as never,
    }),
  ];
}

/** Index of files by name and by symbol. */
class DescriptorIndex {
  readonly #served: readonly string[];
  readonly #byName = new Map<string, DescFile>();
  readonly #bySymbol = new Map<string, DescFile>();

  constructor(files: readonly DescFile[], served: readonly string[]) {
    this.#served = served;
    for (const file of files) this.#add(file);
  }

  respond(request: ReflectionRequest): ReflectionResponse {
    switch (request.case) {
      case "listServices":
        return { case: "listServicesResponse", value: { service: this.#served.map((name) => ({ name })) } };
      case "fileByFilename":
        return this.#file(this.#byName.get(request.value), request.value);
      case "fileContainingSymbol":
        return this.#file(this.#bySymbol.get(request.value), request.value);
      case "allExtensionNumbersOfType":
        return { case: "allExtensionNumbersResponse", value: { baseTypeName: request.value, extensionNumber: [] } };
      case "fileContainingExtension":
        return errorResponse(GRPC_STATUS.NOT_FOUND, "extensions are not supported");
      case undefined:
        return errorResponse(GRPC_STATUS.INVALID_ARGUMENT, "the request is empty");
    }
  }

  /** Returns the file with all its imports. */
  #file(file: DescFile | undefined, name: string): ReflectionResponse {
    if (!file) return errorResponse(GRPC_STATUS.NOT_FOUND, `"${name}" was not found`);
    const needed = new Set<DescFile>();
    const collect = (next: DescFile): void => {
      if (needed.has(next)) return;
      needed.add(next);
      for (const dependency of next.dependencies) collect(dependency);
    };
    collect(file);
    return {
      case: "fileDescriptorResponse",
      value: { fileDescriptorProto: [...needed].map((one) => toBinary(FileDescriptorProtoSchema, one.proto)) },
    };
  }

  #add(file: DescFile): void {
    if (this.#byName.has(file.proto.name)) return;
    this.#byName.set(file.proto.name, file);
    for (const service of file.services) {
      this.#bySymbol.set(service.typeName, file);
      for (const method of service.methods) this.#bySymbol.set(`${service.typeName}.${method.name}`, file);
    }
    for (const enumeration of file.enums) this.#bySymbol.set(enumeration.typeName, file);
    const addMessage = (message: DescFile["messages"][number]): void => {
      this.#bySymbol.set(message.typeName, file);
      for (const nested of message.nestedEnums) this.#bySymbol.set(nested.typeName, file);
      for (const nested of message.nestedMessages) addMessage(nested);
    };
    for (const message of file.messages) addMessage(message);
    for (const dependency of file.dependencies) this.#add(dependency);
  }
}

function errorResponse(errorCode: number, errorMessage: string): ReflectionResponse {
  return { case: "errorResponse", value: { errorCode, errorMessage } };
}
