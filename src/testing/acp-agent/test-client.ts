/** A client for the tests of this folder that works on lines, so that tests see the agent's output unchanged. */

import { PassThrough } from "node:stream";
import { startAcpAgent, type AcpAgent, type AcpScript } from "./index.ts";

export interface Message {
  readonly jsonrpc?: string;
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: Params;
  readonly result?: Params;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

export type Params = Record<string, unknown>;

/** Results of the agent's requests, by method. Other requests get no answer. */
export type Answers = Readonly<Record<string, Params | ((params: Params) => Params)>>;

export class LineClient {
  /** Everything that arrived, line by line. */
  readonly lines: string[] = [];
  readonly messages: Message[] = [];
  readonly #write: (text: string) => void;
  readonly #answers: Answers;
  readonly #watchers = new Set<() => void>();
  #text = "";
  #ended = false;
  #ids = 0;

  constructor(write: (text: string) => void, answers: Answers) {
    this.#write = write;
    this.#answers = answers;
  }

  take(text: string): void {
    const [last = "", ...lines] = (this.#text + text).split("\n").toReversed();
    this.#text = last;
    for (const line of lines.toReversed()) {
      this.lines.push(line);
      if (line.startsWith("{")) this.#takeMessage(JSON.parse(line) as Message);
    }
    this.#wake();
  }

  end(): void {
    this.#ended = true;
    this.#wake();
  }

  send(message: Message): void {
    this.#write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");
  }

  /** The whole response, whether it is a result or an error. */
  request(method: string, params: Params = {}, id: unknown = `client-${++this.#ids}`): Promise<Message> {
    this.send({ id, method, params });
    const response = this.first((message) => message.id === id && message.method === undefined);
    response.catch(() => undefined); // a test may send a request that is never answered
    return response;
  }

  async result(method: string, params: Params = {}): Promise<Params> {
    const { result, error } = await this.request(method, params);
    if (error !== undefined) throw new Error(`${method}: ${JSON.stringify(error)}`);
    return result ?? {};
  }

  async newSession(params: Params = {}): Promise<string> {
    const { sessionId } = await this.result("session/new", { cwd: "/project", mcpServers: [], ...params });
    return String(sessionId);
  }

  prompt(sessionId: string, text = "Go", id?: unknown): Promise<Message> {
    return this.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] }, id);
  }

  /** Resolves with the first message that matches, including earlier ones. */
  async first(wanted: (message: Message) => boolean): Promise<Message> {
    return this.until(() => this.messages.find(wanted));
  }

  async until<T>(look: () => T | undefined): Promise<T> {
    for (;;) {
      const found = look();
      if (found !== undefined) return found;
      if (this.#ended) throw new Error(`the agent ended; it wrote ${JSON.stringify(this.lines)}`);
      await new Promise<void>((resolve) => {
        const woken = (): void => {
          this.#watchers.delete(woken);
          resolve();
        };
        this.#watchers.add(woken);
      });
    }
  }

  /** Returns the updates of a session, or of all sessions. */
  updates(sessionId?: string): Params[] {
    return this.messages
      .filter(({ method }) => method === "session/update")
      .filter(({ params }) => sessionId === undefined || params?.["sessionId"] === sessionId)
      .map(({ params }) => params?.["update"] as Params);
  }

  /** Returns the agent's text. */
  text(): string {
    return this.updates()
      .filter(({ sessionUpdate }) => sessionUpdate === "agent_message_chunk")
      .map(({ content }) => (content as { text?: string }).text ?? "")
      .join("|");
  }

  #takeMessage(message: Message): void {
    this.messages.push(message);
    const { id, method = "", params = {} } = message;
    const answer = this.#answers[method];
    if (id === undefined || answer === undefined) return;
    this.send({ id, result: typeof answer === "function" ? answer(params) : answer });
  }

  #wake(): void {
    for (const watcher of [...this.#watchers]) watcher();
  }
}

export interface InProcess extends AsyncDisposable {
  readonly agent: AcpAgent;
  readonly client: LineClient;
  readonly input: PassThrough;
  readonly output: PassThrough;
}

/** Starts an agent in this process with a connected client. */
export function open(script: AcpScript, answers: Answers = {}): InProcess {
  const input = new PassThrough();
  const output = new PassThrough();
  const agent = startAcpAgent({ script, input, output });
  const client = new LineClient((text) => void input.write(text), answers);
  output.setEncoding("utf8");
  output.on("data", (text: string) => client.take(text));
  output.on("close", () => client.end());
  return { agent, client, input, output, [Symbol.asyncDispose]: () => agent.close() };
}
