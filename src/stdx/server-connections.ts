/** Bounds the open connections of an HTTP server, so that peers without a token cannot keep out clients that have one. */
import type { Server } from "node:http";
import type { Socket } from "node:net";

export interface ConnectionLimits {
  /** Connections on which no request has carried the token yet. More than the kernel's backlog holds at once. */
  readonly unauthenticated: number;
  readonly authenticated: number;
}

export const CONNECTION_LIMITS: ConnectionLimits = { unauthenticated: 512, authenticated: 1_024 };

/** How long a peer that was refused may take to read why. In milliseconds. */
const LINGER_MS = 1_000;

export class ServerConnections {
  readonly #limits: ConnectionLimits;
  /** Oldest first, with the number of requests in progress. */
  readonly #unauthenticated = new Map<Socket, number>();
  readonly #authenticated = new Map<Socket, number>();

  constructor(limits: ConnectionLimits = CONNECTION_LIMITS) {
    this.#limits = limits;
  }

  /** Tracks every connection that the server accepts from now on. */
  watch(server: Server): void {
    // Never reached: one connection is closed for each that is added at a limit.
    server.maxConnections = this.#limits.unauthenticated + this.#limits.authenticated + 1;
    server.on("connection", (socket: Socket) => this.#add(socket));
  }

  get unauthenticated(): number {
    return this.#unauthenticated.size;
  }

  get authenticated(): number {
    return this.#authenticated.size;
  }

  /** Counts a request on a connection. Call the returned function when its response is closed. */
  startRequest(socket: Socket): () => void {
    const count = (change: 1 | -1): void => {
      const connections = this.#authenticated.has(socket) ? this.#authenticated : this.#unauthenticated;
      const before = connections.get(socket);
      if (before !== undefined) connections.set(socket, before + change);
    };
    count(1);
    return () => count(-1);
  }

  /**
   * Moves a connection to those of clients that have the token. At the limit, the idle connection that was opened
   * first is closed for it. Returns false if none is idle.
   */
  authenticate(socket: Socket): boolean {
    const requests = this.#unauthenticated.get(socket);
    if (requests === undefined) return true; // authenticated before, or already closed
    if (this.#authenticated.size >= this.#limits.authenticated) {
      const idle = findIdle(this.#authenticated);
      if (idle === undefined) return false;
      this.#destroy(idle);
    }
    this.#unauthenticated.delete(socket);
    this.#authenticated.set(socket, requests);
    return true;
  }

  /** Whether a client that has the token waits for a response on this connection. */
  isBusy(socket: Socket): boolean {
    return (this.#authenticated.get(socket) ?? 0) > 0;
  }

  /** Closes connections that never sent a whole request: nobody waits for a response on them. */
  destroyUnused(): void {
    for (const [socket, requests] of this.#unauthenticated) if (requests === 0) this.#destroy(socket);
  }

  destroyAll(): void {
    for (const connections of [this.#unauthenticated, this.#authenticated])
      for (const socket of connections.keys()) this.#destroy(socket);
  }

  #add(socket: Socket): void {
    this.#unauthenticated.set(socket, 0);
    socket.once("close", () => this.#forget(socket));
    if (this.#unauthenticated.size <= this.#limits.unauthenticated) return;
    const [oldest] = this.#unauthenticated.keys();
    if (oldest !== undefined) this.#destroy(oldest);
  }

  #destroy(socket: Socket): void {
    this.#forget(socket); // at once: "close" comes later, and the next connection may be here before it
    socket.destroy();
  }

  #forget(socket: Socket): void {
    this.#unauthenticated.delete(socket);
    this.#authenticated.delete(socket);
  }
}

function findIdle(connections: ReadonlyMap<Socket, number>): Socket | undefined {
  for (const [socket, requests] of connections) if (requests === 0) return socket;
  return undefined;
}

/**
 * Sends the last bytes and closes the connection, also if the peer neither reads nor closes its side. Waits a moment
 * before it does: a close with unread input resets the connection, and the peer loses what it has not read yet.
 */
export function endConnection(socket: Socket, bytes: string): void {
  socket.end(bytes);
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once("close", () => clearTimeout(timer));
}
