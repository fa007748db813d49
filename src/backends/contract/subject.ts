/** What the contract is told of a backend: what it can do, and where an agent of it is to be had for each case. */
import type { BackendKind, Capabilities, PermissionPolicy } from "../../domain/index.ts";
import type { Files } from "./model.ts";
import type { Behaviour } from "./words.ts";

export interface Subject {
  readonly name: string;
  readonly backend: BackendKind;
  readonly capabilities: Capabilities;
  /** What cannot be shown with it, and why. */
  readonly skips?: Partial<Record<Behaviour, string>>;
  /** Does it drive a program? Yes if not said. */
  readonly hasProgram?: boolean;
  /** Does the agent say a message in parts? Yes if not said. */
  readonly streams?: boolean;
  /** Does it print words, and say no messages? No if not said. */
  readonly prints?: boolean;
  /** Which of `SECRETS` its program gets. */
  readonly secrets?: readonly string[];
  /** The policy that its sessions have if the case says nothing; to be asked if not said. */
  readonly permissions?: PermissionPolicy;
  /** A way to work in which the agent edits without asking. */
  readonly mode?: string;
  open(behaviour: Behaviour): Promise<Scene>;
}

/** One agent that is ready to be driven, and what it is ready with. */
export interface Scene extends AsyncDisposable {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** The lines of `[agents.it]`. */
  readonly toml: string;
  readonly files: Files;
  /** Are files really made and written? Not by a stand-in. */
  readonly isReal: boolean;
  /** All that the agent, or the model behind it, was told so far. */
  heard(): string;
  /** The program forgets the sessions that it has. */
  forget?(): Promise<void>;
  /** Called when a tool of ours was called, for whoever writes down what happens. */
  called?(tool: string, input: unknown): void;
}

/** Keys of several providers, for seeing who gets which. */
export const SECRETS = {
  ANTHROPIC_API_KEY: "secret-of-anthropic",
  OPENAI_API_KEY: "secret-of-openai",
  GEMINI_API_KEY: "secret-of-gemini",
  SOME_OTHER_API_KEY: "secret-of-another",
} as const;
