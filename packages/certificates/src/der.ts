/** The DER types (ITU-T X.690) that a certificate uses. */

function element(tag: number, content: Buffer): Buffer {
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), content]);
  const bytes = Buffer.from(length.toString(16).padStart(length > 0xff ? 4 : 2, "0"), "hex");
  return Buffer.concat([Buffer.from([tag, 0x80 | bytes.length]), bytes, content]);
}

export const sequence = (...items: Buffer[]): Buffer => element(0x30, Buffer.concat(items));

export const setOf = (...items: Buffer[]): Buffer => element(0x31, Buffer.concat(items));

export const utf8 = (text: string): Buffer => element(0x0c, Buffer.from(text, "utf8"));

export const octets = (content: Buffer): Buffer => element(0x04, content);

export const bits = (content: Buffer, unused = 0): Buffer =>
  element(0x03, Buffer.concat([Buffer.from([unused]), content]));

export const truth = (value: boolean): Buffer => element(0x01, Buffer.from([value ? 0xff : 0]));

/** A positive integer, as big-endian bytes. */
export const integer = (bytes: Buffer): Buffer =>
  element(0x02, (bytes[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.from([0]), bytes]) : bytes);

/** A context-specific element; constructed unless it replaces a primitive type. */
export const context = (number: number, content: Buffer, constructed = true): Buffer =>
  element(0x80 | (constructed ? 0x20 : 0) | number, content);

/** A date as GeneralizedTime, to the second. */
export const time = (moment: Date): Buffer =>
  element(0x18, Buffer.from(`${moment.toISOString().slice(0, 19).replaceAll(/[-:T]/g, "")}Z`));

/** An object identifier from its dotted form. */
export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  return element(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

function base128(value: number): number[] {
  const groups = [value & 0x7f];
  for (let left = value >>> 7; left > 0; left >>>= 7) groups.unshift((left & 0x7f) | 0x80);
  return groups;
}
