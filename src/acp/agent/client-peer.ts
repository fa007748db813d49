/** The client as an agent sees it: what it said that it can do, and the ways to call it. */
import { RookeryError } from "../../domain/errors.ts";
import type { Connection, RequestOptions } from "../connection/connection.ts";
import type * as acp from "../schema.ts";

/** What an agent may do only where the client said so. */
export type ClientFeature =
  | "fs/read_text_file"
  | "fs/write_text_file"
  | "terminal"
  | "elicitation/form"
  | "elicitation/url"
  | "notice"
  | "compaction"
  | "boolean_options"
  | "terminal_auth";

type Options = Pick<RequestOptions, "signal">;

export class ClientPeer {
  readonly connection: Connection;
  #introduced: acp.InitializeRequest | undefined;

  constructor(connection: Connection) {
    this.connection = connection;
  }

  /** What the client said of itself, as it came; undefined before it did. */
  get introduction(): acp.InitializeRequest | undefined {
    return this.#introduced;
  }

  get capabilities(): acp.ClientCapabilities {
    return this.#introduced?.clientCapabilities ?? {};
  }

  /** Of the connection: the client introduced itself. */
  recordInitialize(request: acp.InitializeRequest): void {
    this.#introduced = request;
  }

  offers(feature: ClientFeature): boolean {
    const { fs, terminal, elicitation, session, auth } = this.capabilities;
    switch (feature) {
      case "fs/read_text_file":
        return fs?.readTextFile === true;
      case "fs/write_text_file":
        return fs?.writeTextFile === true;
      case "terminal":
        return terminal === true;
      case "elicitation/form":
        return isAdvertised(elicitation?.form);
      case "elicitation/url":
        return isAdvertised(elicitation?.url);
      case "notice":
        return isAdvertised(session?.notices);
      case "compaction":
        return isAdvertised(session?.compaction);
      case "boolean_options":
        return isAdvertised(session?.configOptions?.boolean);
      case "terminal_auth":
        return auth?.terminal === true;
    }
  }

  /**
   * Resolves when there is room for more. A notice or a compaction goes only to a client that takes such; for any other
   * it is left out. Rejects with `ConnectionClosed` or `PeerNotReading`.
   */
  async update(sessionId: string, update: acp.SessionUpdate): Promise<void> {
    const feature = requiredFeature(update.sessionUpdate);
    if (feature !== undefined && !this.offers(feature)) return;
    await this.connection.notify("session/update", { sessionId, update });
  }

  /** With a signal the request is taken back; the client's answer is waited for all the same. */
  requestPermission(request: acp.RequestPermissionRequest, options?: Options): Promise<acp.RequestPermissionResponse> {
    return this.request("session/request_permission", request, options);
  }

  /** This and what follows throws `backend_unsupported` where the client does not offer it. */
  readTextFile(request: acp.ReadTextFileRequest, options?: Options): Promise<acp.ReadTextFileResponse> {
    this.mustOffer("fs/read_text_file");
    return this.request("fs/read_text_file", request, options);
  }

  writeTextFile(request: acp.WriteTextFileRequest, options?: Options): Promise<acp.WriteTextFileResponse> {
    this.mustOffer("fs/write_text_file");
    return this.request("fs/write_text_file", request, options);
  }

  createTerminal(request: acp.CreateTerminalRequest, options?: Options): Promise<acp.CreateTerminalResponse> {
    return this.#terminal("create", request, options);
  }

  terminalOutput(request: acp.TerminalOutputRequest, options?: Options): Promise<acp.TerminalOutputResponse> {
    return this.#terminal("output", request, options);
  }

  waitForTerminalExit(
    request: acp.WaitForTerminalExitRequest,
    options?: Options,
  ): Promise<acp.WaitForTerminalExitResponse> {
    return this.#terminal("wait_for_exit", request, options);
  }

  killTerminal(request: acp.KillTerminalRequest, options?: Options): Promise<acp.KillTerminalResponse> {
    return this.#terminal("kill", request, options);
  }

  releaseTerminal(request: acp.ReleaseTerminalRequest, options?: Options): Promise<acp.ReleaseTerminalResponse> {
    return this.#terminal("release", request, options);
  }

  /** Asks the person at the client. */
  elicit(request: acp.CreateElicitationRequest, options?: Options): Promise<acp.CreateElicitationResponse> {
    this.mustOffer(request.mode === "url" ? "elicitation/url" : "elicitation/form");
    return this.request("elicitation/create", request, options);
  }

  /** What was asked for by URL is done. */
  async completeElicitation(notification: acp.CompleteElicitationNotification): Promise<void> {
    this.mustOffer("elicitation/url");
    await this.connection.notify("elicitation/complete", notification);
  }

  /** Any request of the protocol or of an extension. */
  request<Result = unknown>(method: string, params?: unknown, options?: Options): Promise<Result> {
    return this.connection.request<Result>(method, params, options);
  }

  notify(method: string, params?: unknown): Promise<void> {
    return this.connection.notify(method, params);
  }

  mustOffer(feature: ClientFeature): void {
    if (this.offers(feature)) return;
    throw new RookeryError("backend_unsupported", `${this.connection.peer} does not offer ${feature}`);
  }

  #terminal<Result>(what: string, request: unknown, options?: Options): Promise<Result> {
    this.mustOffer("terminal");
    return this.request(`terminal/${what}`, request, options);
  }
}

function isAdvertised(capability: unknown): boolean {
  return capability !== undefined && capability !== null && capability !== false;
}

function requiredFeature(kind: string): ClientFeature | undefined {
  if (kind === "notice") return "notice";
  return kind === "compaction_update" || kind === "compaction_summary_chunk" ? "compaction" : undefined;
}
