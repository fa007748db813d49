/** Something that a person starts with a button: whether it runs, and why it failed. */
import { createSignal, onCleanup, type Accessor } from "solid-js";
import { messageOf } from "./request.ts";

export interface Action<Args extends readonly unknown[]> {
  /** Does nothing while it runs. Resolves with whether it succeeded. */
  run(...args: Args): Promise<boolean>;
  readonly isRunning: Accessor<boolean>;
  /** The error of the last run. */
  readonly error: Accessor<string | undefined>;
  clearError(): void;
}

export function createAction<Args extends readonly unknown[]>(work: (...args: Args) => Promise<unknown>): Action<Args> {
  const [isRunning, setRunning] = createSignal(false);
  const [error, setError] = createSignal<string>();
  let isGone = false;
  onCleanup(() => (isGone = true));
  return {
    isRunning,
    error,
    clearError: () => setError(undefined),
    async run(...args) {
      if (isRunning()) return false;
      setRunning(true);
      setError(undefined);
      try {
        await work(...args);
        return true;
      } catch (cause) {
        if (isGone) console.warn(messageOf(cause));
        else setError(messageOf(cause));
        return false;
      } finally {
        setRunning(false);
      }
    },
  };
}
