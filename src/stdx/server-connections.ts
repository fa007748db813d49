/**
 * Bounds the open connections of an HTTP server, so that peers without a token cannot keep out clients that have one.
 */
import type { IncomingMessage, Server } from "node:http";
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
  /** Oldest first, with the requests in progress. */
  readonly #unauthenticated = new Map<Socket, Set<IncomingMessage>>();
  readonly #authenticated = new Map<Socket, Set<IncomingMessage>>();

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

  /** Counts a request on its connection. Call the returned function when its response is closed. */
  startRequest(request: IncomingMessage): () => void {
    const { socket } = request;
    const requests = this.#authenticated.get(socket) ?? this.#unauthenticated.get(socket);
    requests?.add(request);
    return () => requests?.delete(request);
  }

  /**
   * Whether a peer without the token sent a request before the last one was answered. One packet holds a thousand such
   * requests, and all of them would be answered before anybody else is heard: close the connection instead.
   */
  isPipelining({ socket }: IncomingMessage): boolean {
    return (this.#unauthenticated.get(socket)?.size ?? 0) > 0;
  }

  /**
   * Moves a connection to those of clients that have the token. At the limit, one is closed for it: the idle one that
   * was opened first, else the first one whose request has not come in whole. Returns false if there is none.
   */
  authenticate(socket: Socket): boolean {
    const requests = this.#unauthenticated.get(socket);
    if (requests === undefined) return true; // authenticated before, or already closed
    if (this.#authenticated.size >= this.#limits.authenticated) {
      const spare = findSpare(this.#authenticated);
      if (spare === undefined) return false;
      this.#destroy(spare);
    }
    this.#unauthenticated.delete(socket);
    this.#authenticated.set(socket, requests);
    return true;
  }

  /** Whether a client that has the token waits for a response on this connection. */
  isBusy(socket: Socket): boolean {
    return (this.#authenticated.get(socket)?.size ?? 0) > 0;
  }

  /** Closes connections that never sent a whole request: nobody waits for a response on them. */
  destroyUnused(): void {
    for (const [socket, requests] of this.#unauthenticated) if (requests.size === 0) this.#destroy(socket);
  }

  destroyAll(): void {
    for (const connections of [this.#unauthenticated, this.#authenticated])
      for (const socket of connections.keys()) this.#destroy(socket);
  }

  #add(socket: Socket): void {
    this.#unauthenticated.set(socket, new Set());
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

function findSpare(connections: ReadonlyMap<Socket, ReadonlySet<IncomingMessage>>): Socket | undefined {
  let unfinished: Socket | undefined;
  for (const [socket, requests] of connections) {
    if (requests.size === 0) return socket;
    if (unfinished === undefined && [...requests].every(({ complete }) => !complete)) unfinished = socket;
  }
  return unfinished;
}

/**
 * Sends the last bytes and closes the connection, even if the peer neither reads nor closes its side. Waits a moment
 * before it does: a close with unread input resets the connection, and the peer loses what it has not read yet.
 */
export function endConnection(socket: Socket, bytes: string): void {
  socket.end(bytes);
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once("close", () => clearTimeout(timer));
}
