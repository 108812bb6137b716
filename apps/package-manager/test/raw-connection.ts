import { connect, type Socket } from "node:net";

/** A connection on which a test writes bytes itself. */
export interface RawConnection {
  readonly socket: Socket;
  /** Everything received so far. */
  readonly received: () => string;
  readonly closed: Promise<void>;
}

/** Opens a connection to a loopback port and writes the text. */
export async function openConnection(port: number, text = ""): Promise<RawConnection> {
  const socket = connect(port, "127.0.0.1");
  let received = "";
  socket.on("data", (bytes) => (received += bytes.toString("latin1")));
  socket.on("error", () => undefined);
  const closed = new Promise<void>((resolve) => socket.on("close", () => resolve()));
  await new Promise<void>((resolve) => socket.once("connect", resolve));
  socket.write(text);
  return { socket, received: () => received, closed };
}
