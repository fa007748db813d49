/** The route `/mcp`: the MCP server with which a model orchestrates tasks, over streamable HTTP. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { HttpSessions } from "../../mcp/endpoint/index.ts";
import type { TaskServerOptions } from "../mcp/task-service.ts";

export const MCP_PATH = "/mcp";
export const MCP_METHODS = ["GET", "POST", "DELETE"];

export class TaskMcp {
  readonly #options: Omit<TaskServerOptions, "answers">;
  readonly #servers = new Map<boolean, Promise<HttpSessions>>();
  #isClosed = false;

  constructor(options: Omit<TaskServerOptions, "answers">) {
    this.#options = options;
  }

  /**
   * Answers a request of an MCP client. `answers`: whether the client may answer permission requests. Access was checked
   * before.
   */
  async handle(request: IncomingMessage, response: ServerResponse, answers: boolean): Promise<void> {
    let sessions = this.#servers.get(answers);
    if (sessions === undefined) {
      sessions = this.#open(answers);
      this.#servers.set(answers, sessions);
    }
    await (await sessions).handle(request, response);
  }

  /** Ends the sessions of all clients. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const sessions of this.#servers.values()) await (await sessions)[Symbol.asyncDispose]();
  }

  async #open(answers: boolean): Promise<HttpSessions> {
    const [{ HttpSessions }, { taskServer }] = await Promise.all([
      import("../../mcp/endpoint/index.ts"),
      import("../mcp/index.ts"),
    ]);
    const sessions = new HttpSessions(taskServer({ ...this.#options, answers }));
    if (this.#isClosed) await sessions[Symbol.asyncDispose]();
    return sessions;
  }
}
