import { ScalarType, type DescField, type DescMessage } from "@bufbuild/protobuf";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { REQUEST_LIMITS, ROOT_PATH, type DocumentLimits, type Violation } from "@oaas/foundation";

/** Bytes of one text: 65,536 characters of up to four bytes, the limit of REST. */
const MAX_TEXT_BYTES = 262_144;

/**
 * Measures an encoded message before it is decoded: two bytes on the wire can become an object of 300 bytes. Counts every
 * field, every item of a packed list and every nested message. An invalid encoding is left to the decoder.
 */
export function findMessageProblem(
  message: DescMessage,
  bytes: Uint8Array,
  limits: DocumentLimits = REQUEST_LIMITS,
): Violation | undefined {
  const budget = { nodes: limits.nodes };
  try {
    measure(message, new BinaryReader(bytes), bytes.length, limits.depth, budget);
  } catch (thrown) {
    if (!(thrown instanceof LimitExceeded)) return undefined;
    if (thrown.text !== undefined)
      return {
        path: `$.${thrown.text.name}`,
        message: `is longer than ${MAX_TEXT_BYTES} bytes`,
        fix: "shorten it",
      };
    return budget.nodes < 0
      ? {
          path: ROOT_PATH,
          message: `has more than ${limits.nodes} values`,
          fix: "split it into several requests, or shorten its lists",
        }
      : {
          path: ROOT_PATH,
          message: `is nested too deeply: more than ${limits.depth} levels`,
          fix: "reduce the nesting",
        };
  }
  return undefined;
}

class LimitExceeded extends Error {
  /** The field of a text that is too long. */
  readonly text: DescField | undefined;

  constructor(text?: DescField) {
    super();
    this.text = text;
  }
}

interface Budget {
  nodes: number;
}

function measure(message: DescMessage, reader: BinaryReader, end: number, depth: number, budget: Budget): void {
  if (depth < 0) throw new LimitExceeded();
  while (reader.pos < end) {
    const [number, wireType] = reader.tag();
    const field = message.fields.find((each) => each.number === number);
    if (field === undefined || wireType !== WireType.LengthDelimited) {
      reader.skip(wireType, number);
      spend(budget, 1);
    } else measureBytes(field, reader, depth, budget);
  }
}

function spend(budget: Budget, nodes: number): void {
  budget.nodes -= nodes;
  if (budget.nodes < 0) throw new LimitExceeded();
}

/** Measures a field with a length: a text, a packed list, a message or an entry of a map. */
function measureBytes(field: DescField, reader: BinaryReader, depth: number, budget: Budget): void {
  const end = reader.uint32() + reader.pos;
  if (field.fieldKind === "map") measureEntry(field, reader, end, depth, budget);
  else if (field.message !== undefined) {
    spend(budget, 1);
    measure(field.message, reader, end, depth - 1, budget);
  } else {
    if (isText(field) && end - reader.pos > MAX_TEXT_BYTES) throw new LimitExceeded(field);
    spend(budget, isPacked(field) ? end - reader.pos : 1);
    reader.pos = end;
  }
}

/** An entry of a map is a message with the key as field 1 and the value as field 2. */
function measureEntry(
  field: DescField & { readonly fieldKind: "map" },
  reader: BinaryReader,
  end: number,
  depth: number,
  budget: Budget,
): void {
  while (reader.pos < end) {
    const [number, wireType] = reader.tag();
    spend(budget, 1);
    if (number === 2 && field.message !== undefined && wireType === WireType.LengthDelimited) {
      measure(field.message, reader, reader.uint32() + reader.pos, depth - 1, budget);
    } else {
      const from = reader.pos;
      reader.skip(wireType, number);
      if (reader.pos - from > MAX_TEXT_BYTES) throw new LimitExceeded(field);
    }
  }
}

/** Bytes, such as the value of an object, are limited by the size of the message: decoding does not enlarge them. */
function isText(field: DescField): boolean {
  return "scalar" in field && field.scalar === ScalarType.STRING;
}

/** Every byte of a packed list may be one number. */
function isPacked(field: DescField): boolean {
  if (field.fieldKind !== "list") return false;
  return field.listKind === "enum" || (field.listKind === "scalar" && !TEXTS.has(field.scalar));
}

const TEXTS: ReadonlySet<ScalarType> = new Set([ScalarType.STRING, ScalarType.BYTES]);
