/** Describes a backend to the contract suite: its capabilities, and how to open an agent for each case. */
import type { BackendKind, Capabilities, PermissionPolicy } from "../../domain/index.ts";
import type { ContractFiles } from "./model.ts";
import type { Behavior } from "./prompts.ts";

export interface Subject {
  readonly name: string;
  readonly backend: BackendKind;
  readonly capabilities: Capabilities;
  /** Cases that it skips, with the reason. */
  readonly skips?: Partial<Record<Behavior, string>>;
  /** Whether it runs a program. Default: true. */
  readonly hasProgram?: boolean;
  /** Whether messages arrive in parts. Default: true. */
  readonly streams?: boolean;
  /** Whether it prints plain text and sends no messages. Default: false. */
  readonly prints?: boolean;
  /** Names of the `SECRETS` that its program receives. */
  readonly secrets?: readonly string[];
  /** The permission policy of its sessions. Default: `ask`. */
  readonly permissions?: PermissionPolicy;
  /** A mode in which the agent edits without asking. */
  readonly mode?: string;
  open(behavior: Behavior): Promise<ContractScene>;
}

/** One agent that is ready to run, with its environment and files. */
export interface ContractScene extends AsyncDisposable {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** The lines of `[agents.it]`. */
  readonly toml: string;
  readonly files: ContractFiles;
  /** Whether files are really written; a stand-in writes none. */
  readonly isReal: boolean;
  /** Everything that the agent or its model received so far. */
  received(): string;
  /** Deletes the program's sessions. */
  forget?(): Promise<void>;
  /** Called after a call of a Rookery tool, for recordings. */
  called?(tool: string, input: unknown): void;
}

/** Keys of several providers, to check which program receives which. */
export const SECRETS = {
  ANTHROPIC_API_KEY: "secret-of-anthropic",
  OPENAI_API_KEY: "secret-of-openai",
  GEMINI_API_KEY: "secret-of-gemini",
  SOME_OTHER_API_KEY: "secret-of-another",
} as const;
