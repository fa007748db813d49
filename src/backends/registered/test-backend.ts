/** A backend for tests: remembers nothing, and does what a function per turn says. */
import {
  ALL_CAPABILITIES,
  NO_CAPABILITIES,
  formatInput,
  type AgentConnection,
  type Backend,
  type BackendContext,
} from "../../domain/index.ts";

export interface TestBackend extends Backend {
  /** What each turn got, with the part of the conversation that the agent did not know. */
  readonly received: string[];
  readonly opened: BackendContext[];
  closed: number;
}

export interface TestBackendOptions {
  readonly kind?: string;
  readonly connection?: Partial<AgentConnection>;
}

/** Answers "re: " and the input. */
export function createTestBackend({ kind = "mine", connection = {} }: TestBackendOptions = {}): TestBackend {
  const received: string[] = [];
  const opened: BackendContext[] = [];
  const backend: TestBackend = {
    kind,
    received,
    opened,
    closed: 0,
    open: (context) => {
      opened.push(context);
      return Promise.resolve({
        resumesTurns: false,
        capabilities: { ...NO_CAPABILITIES, interrupt: ALL_CAPABILITIES.interrupt },
        async runTurn(turn) {
          const text = formatInput(turn.input);
          received.push([await turn.missedConversation?.(), text].filter(Boolean).join("\n"));
          turn.log.record({ type: "message.completed", messageId: turn.turnId, text: `re: ${text}` });
          return { status: "done" as const };
        },
        [Symbol.asyncDispose]() {
          backend.closed += 1;
          return Promise.resolve();
        },
        ...connection,
      } satisfies AgentConnection);
    },
  };
  return backend;
}
