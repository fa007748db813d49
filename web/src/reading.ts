/** Something that is read from the server, and read again when a person or an event asks for it. The latest wins. */
import { createSignal, onCleanup, type Accessor } from "solid-js";
import { messageOf } from "./request.ts";

/** Unlike a resource of Solid, it does not suspend the screen. */
export interface Reading<T, Args extends readonly unknown[]> {
  /** Ignores the results of earlier runs that have not ended. */
  read(...args: Args): Promise<void>;
  readonly isRunning: Accessor<boolean>;
  /** The value of the last run that succeeded. */
  readonly value: Accessor<T | undefined>;
  /** The error of the last run. */
  readonly error: Accessor<string | undefined>;
}

export function createReading<T, Args extends readonly unknown[]>(
  work: (...args: Args) => Promise<T>,
): Reading<T, Args> {
  const [isRunning, setRunning] = createSignal(false);
  const [value, setValue] = createSignal<T>();
  const [error, setError] = createSignal<string>();
  let latest = 0;
  onCleanup(() => (latest = -1));
  return {
    isRunning,
    value,
    error,
    async read(...args) {
      const own = (latest += 1);
      setRunning(true);
      try {
        const result = await work(...args);
        if (own !== latest) return;
        setValue(() => result);
        setError(undefined);
      } catch (cause) {
        if (own === latest) setError(messageOf(cause));
      } finally {
        if (own === latest) setRunning(false);
      }
    },
  };
}
