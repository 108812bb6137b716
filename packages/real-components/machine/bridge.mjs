/**
 * Connects the network of the real nodes with this machine through sockets in the file system, without an address or a
 * route on this machine.
 *
 *   api SOCKET PORT             on the machine: connections to the socket go to the API server on 127.0.0.1:PORT
 *   network API PROXY PORT …    in the network: 127.0.0.1:PORT and each further address lead to the socket API; the socket
 *                               PROXY is an HTTP proxy (CONNECT), through which the API server reaches nodes and pods
 */
import { createServer as createHttpServer } from "node:http";
import { connect, createServer } from "node:net";
import process from "node:process";

const [mode, ...args] = process.argv.slice(2);

/** @param {import("node:net").Socket} one @param {import("node:net").Socket} other */
function join(one, other) {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ]) {
    from.on("error", () => to.destroy());
    from.on("close", () => to.destroy());
    from.setNoDelay?.(true);
    from.pipe(to);
  }
}

/** @param {() => import("node:net").Socket} dial */
function forwarder(dial) {
  return createServer({ allowHalfOpen: true }, (socket) => join(socket, dial()));
}

if (mode === "api") {
  const [socket, port] = args;
  forwarder(() => connect({ host: "127.0.0.1", port: Number(port), allowHalfOpen: true })).listen(socket);
} else {
  const [api = "", proxy = "", port = "", ...addresses] = args;
  for (const host of ["127.0.0.1", ...addresses])
    forwarder(() => connect({ path: api, allowHalfOpen: true })).listen(Number(port), host);
  const server = createHttpServer((_request, response) => response.writeHead(405).end("only CONNECT\n"));
  server.on("connect", (request, client, head) => {
    const { hostname, port: target } = new URL(`http://${request.url}`);
    const upstream = connect({
      host: hostname.replaceAll(/[[\]]/g, ""),
      port: Number(target || 80),
      allowHalfOpen: true,
    });
    upstream.once("error", (error) => client.end(`HTTP/1.1 502 ${error.code ?? "failed"}\r\n\r\n`));
    upstream.once("connect", () => {
      client.write("HTTP/1.1 200 Connection established\r\n\r\n");
      if (head.length > 0) upstream.write(head);
      join(client, upstream);
    });
    client.on("error", () => upstream.destroy());
  });
  server.listen(proxy);
}
