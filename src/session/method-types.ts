/** Types of the arguments of the public methods of `Session`. */
import type { QueuedInput } from "../domain/index.ts";

/** The answer to a permission request (`decision`) or to a question (`action`). */
export type Answer =
  | {
      readonly decision: "allow" | "deny";
      readonly scope?: "once" | "session";
      readonly message?: string;
      /**
       * With scope `session`, and for a shell command only: allows commands that start with these words, such as
       * `npm test`. Default: every call of the tool.
       */
      readonly prefix?: string;
    }
  | { readonly action: "accept" | "decline" | "cancel"; readonly content?: unknown };

/** `steer`: for the running turn. `follow_up`: starts a new turn. */
export type Deliver = QueuedInput["deliver"];

export interface CloseOptions {
  /** Cancels a parked turn too. Default: it stays parked. */
  readonly cancelParked?: boolean;
}

export interface RevokeOptions {
  /** Revokes only the permission for commands that start with these words. Default: everything of the tool. */
  readonly prefix?: string;
}
