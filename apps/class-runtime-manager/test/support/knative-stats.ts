/** Sends what an activator reports about a revision: without it, the autoscaler of Knative does not act. */
export interface ActivatorStandIn {
  close(): void;
}

const AUTOSCALER = "ws://127.0.0.1:8080";

/** Reports the concurrency of revisions every half second, as an activator does. */
export function startActivatorStandIn(
  revisions: () => readonly { readonly namespace: string; readonly name: string; readonly concurrency: number }[],
): ActivatorStandIn {
  const socket = new WebSocket(AUTOSCALER);
  const timer = setInterval(() => {
    if (socket.readyState !== WebSocket.OPEN) return;
    socket.send(Buffer.concat(revisions().map((one) => lengthDelimited(1, statMessage(one)))));
  }, 500);
  return {
    close: () => {
      clearInterval(timer);
      socket.close();
    },
  };
}

/** WireStatMessage of knative.dev/serving/pkg/autoscaler/metrics/stat.proto. */
function statMessage({
  namespace,
  name,
  concurrency,
}: {
  namespace: string;
  name: string;
  concurrency: number;
}): Buffer {
  const stat = Buffer.concat([
    lengthDelimited(1, Buffer.from("activator")),
    double(2, concurrency),
    Buffer.concat([Buffer.from([7 << 3]), varint(Math.floor(Date.now() / 1000))]),
  ]);
  return Buffer.concat([
    lengthDelimited(1, Buffer.from(namespace)),
    lengthDelimited(2, Buffer.from(name)),
    lengthDelimited(3, stat),
  ]);
}

function lengthDelimited(field: number, content: Buffer): Buffer {
  return Buffer.concat([Buffer.from([(field << 3) | 2]), varint(content.length), content]);
}

function double(field: number, value: number): Buffer {
  const bytes = Buffer.alloc(9);
  bytes[0] = (field << 3) | 1;
  bytes.writeDoubleLE(value, 1);
  return bytes;
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80);
  return Buffer.from([...bytes, rest]);
}
