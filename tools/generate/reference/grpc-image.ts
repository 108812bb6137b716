/** The fields of `buf build`'s JSON descriptors that the reference page uses. */
export interface ImageFile {
  readonly name: string;
  readonly package?: string;
  readonly messageType?: readonly MessageJson[];
  readonly enumType?: readonly EnumJson[];
  readonly service?: readonly ServiceJson[];
  readonly sourceCodeInfo?: { readonly location: readonly LocationJson[] };
}

export interface FieldJson {
  readonly name: string;
  readonly number: number;
  readonly label?: string;
  readonly type: string;
  readonly typeName?: string;
  readonly oneofIndex?: number;
  readonly proto3Optional?: boolean;
}

export interface MessageJson {
  readonly name: string;
  readonly field?: readonly FieldJson[];
  readonly nestedType?: readonly MessageJson[];
  readonly enumType?: readonly EnumJson[];
  readonly options?: { readonly mapEntry?: boolean };
}

export interface EnumJson {
  readonly name: string;
  readonly value: readonly { readonly name: string; readonly number?: number }[];
}

export interface ServiceJson {
  readonly name: string;
  readonly method: readonly {
    readonly name: string;
    readonly inputType: string;
    readonly outputType: string;
    readonly clientStreaming?: boolean;
    readonly serverStreaming?: boolean;
  }[];
}

interface LocationJson {
  readonly path?: readonly number[];
  readonly leadingComments?: string;
}

/** A definition with its full name and comment; `commentOf` returns the comments of its parts. */
export interface Documented<T> {
  readonly name: string;
  readonly value: T;
  readonly comment: string;
  readonly commentOf: (part: "field" | "method" | "value", index: number) => string;
}

/** All definitions of an image, by full name. */
export interface Index {
  readonly messages: ReadonlyMap<string, Documented<MessageJson>>;
  readonly enums: ReadonlyMap<string, Documented<EnumJson>>;
  readonly services: ReadonlyMap<string, Documented<ServiceJson>>;
}

/** Field numbers of descriptor.proto, which make up source locations. */
const FILE = { message: 4, enum: 5, service: 6 } as const;
const MESSAGE = { nested: 3, enum: 4 } as const;
const PARTS = { field: 2, method: 2, value: 2 } as const;

export function indexOf(files: readonly ImageFile[]): Index {
  const messages = new Map<string, Documented<MessageJson>>();
  const enums = new Map<string, Documented<EnumJson>>();
  const services = new Map<string, Documented<ServiceJson>>();
  for (const { package: scope = "", messageType, enumType, service, sourceCodeInfo } of files) {
    const comments = new Map(
      (sourceCodeInfo?.location ?? []).map(({ path, leadingComments = "" }) => [
        (path ?? []).join("."),
        leadingComments.replaceAll(/\s+/g, " ").trim(),
      ]),
    );
    const documented = <T>(name: string, value: T, path: string): Documented<T> => ({
      name,
      value,
      comment: comments.get(path) ?? "",
      commentOf: (part, index) => comments.get(`${path}.${PARTS[part]}.${index}`) ?? "",
    });
    const addMessage = (outer: string, message: MessageJson, path: string): void => {
      const name = `${outer}.${message.name}`;
      messages.set(name, documented(name, message, path));
      message.nestedType?.forEach((nested, index) => addMessage(name, nested, `${path}.${MESSAGE.nested}.${index}`));
      message.enumType?.forEach((each, index) => addEnum(name, each, `${path}.${MESSAGE.enum}.${index}`));
    };
    const addEnum = (outer: string, each: EnumJson, path: string): void => {
      const name = `${outer}.${each.name}`;
      enums.set(name, documented(name, each, path));
    };
    messageType?.forEach((message, index) => addMessage(scope, message, `${FILE.message}.${index}`));
    enumType?.forEach((each, index) => addEnum(scope, each, `${FILE.enum}.${index}`));
    service?.forEach((each, index) => {
      const name = `${scope}.${each.name}`;
      services.set(name, documented(name, each, `${FILE.service}.${index}`));
    });
  }
  return { messages, enums, services };
}
