/** The client as an agent sees it: its capabilities, and methods to call it. */
import { RookeryError } from "../../domain/errors.ts";
import type { Connection, RequestOptions } from "../connection/connection.ts";
import type * as acp from "../schema.ts";

/** A capability that the client has to advertise before the agent may use it. */
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
  #initializeRequest: acp.InitializeRequest | undefined;

  constructor(connection: Connection) {
    this.connection = connection;
  }

  /** The client's `initialize` request as it came. Undefined until it arrives. */
  get introduction(): acp.InitializeRequest | undefined {
    return this.#initializeRequest;
  }

  get capabilities(): acp.ClientCapabilities {
    return this.#initializeRequest?.clientCapabilities ?? {};
  }

  /** Called by the server when the client sends `initialize`. */
  recordInitialize(request: acp.InitializeRequest): void {
    this.#initializeRequest = request;
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
   * Resolves when there is room for more. Skips a notice or a compaction if the client does not advertise support for
   * it. Rejects with `ConnectionClosed` or `PeerNotReading`.
   */
  async update(sessionId: string, update: acp.SessionUpdate): Promise<void> {
    const feature = requiredFeature(update.sessionUpdate);
    if (feature !== undefined && !this.offers(feature)) return;
    await this.connection.notify("session/update", { sessionId, update });
  }

  /**
   * Aborting the signal cancels the request with `$/cancel_request`. The promise still waits for the client's answer.
   */
  requestPermission(request: acp.RequestPermissionRequest, options?: Options): Promise<acp.RequestPermissionResponse> {
    return this.request("session/request_permission", request, options);
  }

  /** This method and those below throw `backend_unsupported` if the client does not advertise the feature. */
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

  /** Asks the user of the client. */
  elicit(request: acp.CreateElicitationRequest, options?: Options): Promise<acp.CreateElicitationResponse> {
    this.mustOffer(request.mode === "url" ? "elicitation/url" : "elicitation/form");
    return this.request("elicitation/create", request, options);
  }

  /** Tells the client that a URL elicitation is complete. */
  async completeElicitation(notification: acp.CompleteElicitationNotification): Promise<void> {
    this.mustOffer("elicitation/url");
    await this.connection.notify("elicitation/complete", notification);
  }

  /** Sends any request of the protocol or of an extension. */
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
