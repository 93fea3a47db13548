/** Relays connections to a port until it goes silent: then it accepts and keeps connections, and forwards nothing. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface TcpRelay {
  port: number;
  goSilent(): void;
  close(): Promise<void>;
}

export async function startTcpRelay(target: { host: string; port: number }, port = 0): Promise<TcpRelay> {
  const sockets = new Set<Socket>();
  let isSilent = false;
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.on("error", () => socket.destroy()).on("close", () => sockets.delete(socket));
  };
  const server = createServer((client) => {
    keep(client);
    if (isSilent) {
      client.pause();
      return;
    }
    const upstream = connect(target.port, target.host);
    keep(upstream);
    client.pipe(upstream).pipe(client);
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    goSilent() {
      isSilent = true;
      for (const socket of sockets) socket.unpipe().pause();
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
