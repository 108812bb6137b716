import { toBinary, type DescFile } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { GRPC_STATUS, grpcReflection, grpcReflectionAlpha } from "@oaas/contracts/grpc";
import { bindService, type BoundService } from "./handlers.ts";

type Question = grpcReflection.ServerReflectionRequest["messageRequest"];

/** The answer to one question, in the shape that both versions of the protocol share. */
type Answer =
  | { readonly case: "fileDescriptorResponse"; readonly value: { readonly fileDescriptorProto: Uint8Array[] } }
  | { readonly case: "listServicesResponse"; readonly value: { readonly service: { readonly name: string }[] } }
  | {
      readonly case: "allExtensionNumbersResponse";
      readonly value: { readonly baseTypeName: string; readonly extensionNumber: number[] };
    }
  | { readonly case: "errorResponse"; readonly value: { readonly errorCode: number; readonly errorMessage: string } };

/** Server reflection, versions v1 and v1alpha: lets grpcurl, buf curl and the like call us without our .proto files. */
export function reflectionServices(files: readonly DescFile[], served: readonly string[]): BoundService[] {
  const catalogue = new Catalogue(files, served);
  async function* answer<
    R extends { readonly messageRequest: { readonly case: string | undefined }; readonly host: string },
  >(requests: AsyncIterable<R>) {
    for await (const request of requests) {
      yield {
        validHost: request.host,
        originalRequest: request,
        messageResponse: catalogue.answer(request.messageRequest as Question),
      };
    }
  }
  return [
    bindService(grpcReflection.ServerReflection, { serverReflectionInfo: (requests) => answer(requests) as never }),
    bindService(grpcReflectionAlpha.ServerReflection, {
      serverReflectionInfo: (requests) => answer(requests) as never,
    }),
  ];
}

/** Where everything that has a name is declared. */
class Catalogue {
  readonly #served: readonly string[];
  readonly #byName = new Map<string, DescFile>();
  readonly #bySymbol = new Map<string, DescFile>();

  constructor(files: readonly DescFile[], served: readonly string[]) {
    this.#served = served;
    for (const file of files) this.#add(file);
  }

  answer(question: Question): Answer {
    switch (question.case) {
      case "listServices":
        return { case: "listServicesResponse", value: { service: this.#served.map((name) => ({ name })) } };
      case "fileByFilename":
        return this.#file(this.#byName.get(question.value), question.value);
      case "fileContainingSymbol":
        return this.#file(this.#bySymbol.get(question.value), question.value);
      case "allExtensionNumbersOfType":
        return { case: "allExtensionNumbersResponse", value: { baseTypeName: question.value, extensionNumber: [] } };
      case "fileContainingExtension":
        return refusal(GRPC_STATUS.NOT_FOUND, "no extensions are declared here");
      case undefined:
        return refusal(GRPC_STATUS.INVALID_ARGUMENT, "the request asks for nothing");
    }
  }

  /** The file and all it imports, so that one answer is enough. */
  #file(file: DescFile | undefined, asked: string): Answer {
    if (!file) return refusal(GRPC_STATUS.NOT_FOUND, `"${asked}" is not declared here`);
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

function refusal(errorCode: number, errorMessage: string): Answer {
  return { case: "errorResponse", value: { errorCode, errorMessage } };
}
