/** One time series with its samples. `labels` includes `__name__`. */
export interface Series {
  readonly labels: Readonly<Record<string, string>>;
  readonly samples: readonly Sample[];
}

export interface Sample {
  readonly atMs: number;
  readonly value: number;
}

/** Encodes a WriteRequest of Prometheus remote write 1.0 as snappy-compressed protobuf. */
export function encodeWriteRequest(series: readonly Series[]): Uint8Array {
  return snappyLiterals(Buffer.concat(series.map((one) => lengthDelimited(1, timeSeries(one)))));
}

function timeSeries({ labels, samples }: Series): Buffer {
  const sorted = Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1));
  return Buffer.concat([
    ...sorted.map(([name, value]) => lengthDelimited(1, Buffer.concat([text(1, name), text(2, value)]))),
    ...samples.map((sample) => lengthDelimited(2, sampleMessage(sample))),
  ]);
}

function sampleMessage({ atMs, value }: Sample): Buffer {
  const double = Buffer.alloc(9);
  double[0] = (1 << 3) | 1;
  double.writeDoubleLE(value, 1);
  return Buffer.concat([double, Buffer.from([2 << 3]), varint(atMs)]);
}

function text(field: number, value: string): Buffer {
  return lengthDelimited(field, Buffer.from(value, "utf8"));
}

function lengthDelimited(field: number, content: Buffer): Buffer {
  return Buffer.concat([Buffer.from([(field << 3) | 2]), varint(content.length), content]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let left = BigInt(value);
  for (; left > 0x7fn; left >>= 7n) bytes.push(Number(left & 0x7fn) | 0x80);
  return Buffer.from([...bytes, Number(left)]);
}

const CHUNK = 65_536;

/** Encodes valid snappy without compression: the length, then literals. */
export function snappyLiterals(content: Buffer): Buffer {
  const parts = [varint(content.length)];
  for (let at = 0; at < content.length; at += CHUNK) {
    const chunk = content.subarray(at, at + CHUNK);
    const less = chunk.length - 1;
    parts.push(Buffer.from([0xf4, less & 0xff, less >> 8]), chunk);
  }
  return Buffer.concat(parts);
}
